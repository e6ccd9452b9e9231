# Copyright 2026 UrbanGround for ROS 2 maintainers
# SPDX-License-Identifier: Apache-2.0
"""Everyday needs: what somebody says who wants a type of place, without naming it."""

from __future__ import annotations

from collections.abc import Mapping

#: What people need, by the type of place that they need it of: no word of the type's name.
NEEDS: Mapping[str, tuple[str, ...]] = {
    'arts_centre': (
        'A friend shows her paintings this week, and you promised to come. Go and see them.',
        'You feel like looking at an exhibition by local painters. Go where one is on.',
        'You would like to sign up for a pottery course. Find somewhere that offers one.',
        'Your cousin gives a dance workshop today in a house of studios and galleries. Join it.'),
    'atm': (
        'The stall takes no cards and your purse is empty. Get some banknotes.',
        'You need a few hundred dollars in notes right now, and no counter service.',
        'You want to withdraw money from your account quickly.',
        'Your friend wants his loan back in notes, and you have only a debit card. Solve that.'),
    'bakery': (
        'You would love a loaf that is fresh from the oven.',
        'It is your turn to bring egg tarts and pineapple buns to the office. Get them.',
        'Tomorrow is a birthday: order a cream cake with a name on it.',
        'You smell warm rolls in your thoughts. Buy some for the way.'),
    'bank': (
        'Your account has been locked; somebody at a counter has to unlock it.',
        'You want to ask about a mortgage for a flat. Talk to an adviser.',
        'You have to pay a cheque into your account.',
        'You would like to rent a safe-deposit box for your papers.'),
    'bar': (
        'Work is over. Meet your colleagues for a beer.',
        'You fancy a cocktail and some live jazz.',
        'Your team plays tonight: watch it over a pint among other fans.',
        'A friend is in town, and you want to drink a glass of whisky together.'),
    'books': (
        'You have finished your novel and want to buy the sequel.',
        'You are looking for a good detective story as a gift.',
        'Your daughter needs a printed dictionary of her own. Buy one.',
        'You want to own the new biography that everybody talks about.'),
    'bus_stop': (
        'You are tired of walking and want to ride on, cheaply, by road with many others.',
        'The double-decker of route 6 is how you get home. Go where you can get on.',
        'You must get to the airport, and the airport coach picks people up at the kerb.',
        'You want to wait where the double-deckers let people on and off.'),
    'cafe': (
        'You slept badly and could do with a good espresso.',
        'You want to sit for an hour with a laptop and a milk tea.',
        'Catch up with a friend over a cappuccino.',
        'You long for a flat white and a quiet table.'),
    'cinema': (
        'Everybody talks of the new thriller; watch it on a big screen.',
        'It is too hot. Spend two hours in the dark with popcorn and a film.',
        'You have promised the children the new animated film.',
        'Your favourite director has a premiere today. Go and see it.'),
    'clinic': (
        'You have had a sore throat for days; have somebody examine it.',
        'You feel feverish and would like to see a doctor today.',
        'You need a sick note for work, so a doctor has to look at you.',
        'You want a flu jab before winter comes.'),
    'clothes': (
        'You tore your trousers. Get new ones.',
        'You have an interview tomorrow and no shirt that fits.',
        'It has turned cold: you need a warm jacket.',
        'You are invited to a wedding and want a new dress.'),
    'college': (
        'You want to enrol in an evening diploma course after secondary education.',
        'You teach a diploma course this afternoon. Go to your lecture room.',
        'Your nephew studies for a higher diploma; meet him after his lecture.',
        'You want to ask the registry about a sub-degree programme.'),
    'community_centre': (
        'The neighbours rehearse their choir in the public hall. Join them.',
        'You want to sign up for the residents\' table tennis evening.',
        'Your grandmother plays mahjong with other elderly people in their meeting hall. '
        'Fetch her.',
        'The residents\' meeting about the new lifts takes place today. Attend it.'),
    'convenience': (
        'You are thirsty and want a cold drink at once, at whatever hour.',
        'You need an Octopus top-up and a packet of tissues.',
        'You would like a snack and a bottle of water for the way.',
        'Your umbrella broke and your phone needs a charging cable. One small shop has both.'),
    'dentist': (
        'Your tooth has hurt since last night.',
        'You lost a filling while eating nuts.',
        'It is time to have your teeth cleaned and checked.',
        'Your wisdom tooth is swollen; have it looked at.'),
    'electronics': (
        'Your headphones are broken. Buy new ones.',
        'You need a memory card for the camera and a charger.',
        'You want to compare new phones before you buy one.',
        'The rice cooker has burnt out. Get a new appliance.'),
    'fast_food': (
        'You have ten minutes for lunch: get a burger and fries.',
        'The children want chicken nuggets, quickly.',
        'You crave a cheeseburger with a cola.',
        'You want a hot meal on a tray at once, without waiting to be served.'),
    'fire_station': (
        'You want to thank the crew that put out the flames in your kitchen.',
        'Your boy loves red engines with ladders. Show him where they wait for the alarm.',
        'You want to ask for advice on smoke detectors from those who put out flames.',
        'You deliver new hoses for the engines with the ladders.'),
    'fitness_centre': (
        'You want to lift weights for an hour.',
        'It rains too much to run outside: use a treadmill.',
        'You have resolved to build muscle. Sign up for a membership.',
        'Meet your personal trainer for a workout.'),
    'florist': (
        'It is your wedding anniversary: bring home a dozen roses.',
        'You visit somebody who is ill and want to take a bouquet.',
        'You need a wreath for a funeral.',
        'Buy an orchid as a gift for your hostess.'),
    'government': (
        'You have to renew your identity card.',
        'You want to hand in a form for a licence, in person, to a civil servant.',
        'You need a certified copy of a birth certificate.',
        'You want to inspect the town plan that the authorities have laid out.'),
    'hairdresser': (
        'Your fringe falls into your eyes. Have it cut.',
        'You would like a new colour and a perm.',
        'You need a trim before your interview.',
        'Have your beard and your locks trimmed.'),
    'hardware': (
        'You need screws and a hammer to put up a shelf.',
        'The tap drips. Buy a washer and a wrench.',
        'You want to paint the door: get a brush, paint and sandpaper.',
        'You are locked out of the shed and need a bolt cutter.'),
    'hospital': (
        'You have broken your wrist and need an X-ray at once.',
        'A friend had an operation yesterday. Visit her on her ward.',
        'Somebody has fainted with chest pain. Bring him to an emergency ward.',
        'Your sister had a baby last night. See them both.'),
    'hotel': (
        'You have missed the last ferry and need a bed for the night.',
        'Your parents come for a week and need a room. Ask for one.',
        'You arrive with a suitcase and want to check in somewhere.',
        'A guest from abroad waits in the lobby of where she stays. Meet her.'),
    'kindergarten': (
        'Fetch your four-year-old, who has played and sung there all morning.',
        'Your daughter is three. Ask where she could spend her mornings with other small '
        'children.',
        'Your little one forgot his lunch box this morning. Take it to him; he is four.',
        'You have an appointment with those who look after your four-year-old on weekdays.'),
    'laundry': (
        'Your washing machine is broken and you have no clean shirts.',
        'Your suit has a stain that only professionals can clean.',
        'You carry a bag of dirty clothes. Have them washed.',
        'Your duvet is too big to wash at home.'),
    'library': (
        'You want to borrow a novel, without paying for it.',
        'You need a quiet desk to study at, with newspapers and encyclopaedias.',
        'You have three borrowed novels at home that are due today. Give them back.',
        'You want to read old newspapers about your street.'),
    'mall': (
        'You want to stroll past many shops under one roof, with air conditioning.',
        'You need gifts for five people and want all shops in one building.',
        'Spend a rainy afternoon among boutiques under one roof.',
        'You want to see the display of the big indoor atrium with its many boutiques.'),
    'marketplace': (
        'You want live fish and fresh greens from stall holders.',
        'You need a butcher, a fishmonger and a vegetable stall, side by side.',
        'Your grandmother wants a live chicken and pak choi, weighed at the stall.',
        'Buy fresh prawns from a hawker\'s stall, as cooks do in the morning.'),
    'museum': (
        'You want to learn about the history of the harbour from old objects in glass cases.',
        'Your pupils are to see ancient pottery and old coins. Choose where to take them.',
        'You would like to look at antiquities for an hour.',
        'You want to see the permanent collection about fishermen of the past.'),
    'office': (
        'You have a business meeting with a trading firm at its desks.',
        'You have a job interview with a trading company. Go there.',
        'A document has to be handed to the clerk of a trading firm.',
        'You are to fix the photocopier of a small company.'),
    'optician': (
        'You sat on your glasses. Have them repaired.',
        'You cannot read small print any more: have your eyes tested.',
        'You have run out of contact lenses.',
        'You want new frames for your glasses.'),
    'park': (
        'You want to sit on a bench under trees, among lawns.',
        'Practise tai chi on the grass, among trees.',
        'You want to rest in some greenery, away from traffic.',
        'Have a picnic on a lawn.'),
    'parking': (
        'Your sister left her vehicle in a multi-storey building for the day. Fetch it for her.',
        'You drive a rental and want to leave it for some hours without a fine. Look where.',
        'You have to pay the ticket of your vehicle before you drive it out of the barrier.',
        'You forgot your bag in your vehicle, which you left at a paid place this morning.'),
    'pharmacy': (
        'You have a headache and want to buy painkillers.',
        'The doctor gave you a prescription. Get the medicine.',
        'You need plasters and disinfectant for a cut.',
        'You have run out of cough syrup.'),
    'place_of_worship': (
        'You want to burn incense and pray for your family.',
        'You would like to ask the gods for luck before your examination.',
        'Your grandmother asked you to light joss sticks for the ancestors.',
        'You want to draw a fortune stick before an altar.'),
    'playground': (
        'Your toddler wants to go down a slide.',
        'The children have too much energy: let them swing and climb.',
        'Your nephew wants to be pushed on a swing.',
        'Your twins want to meet other children at a climbing frame.'),
    'police': (
        'Your wallet was stolen. Report it.',
        'You found a purse with a passport in it and want to hand it in to officers.',
        'You saw a burglary and want to make a statement.',
        'You need a loss memo for your stolen phone, from an officer on duty.'),
    'post_office': (
        'You have to send a parcel to your aunt abroad.',
        'You need stamps for your letters.',
        'A registered letter awaits you; you hold the collection card.',
        'You want to mail a document by registered letter.'),
    'residential': (
        'You are invited to dinner at the home of a friend who lives in a block of flats.',
        'Water your neighbour\'s plants: she is away, and her flat is in a tower of homes.',
        'You deliver a meal to a family in a tower of flats.',
        'You want to view a flat that is to let. Go to a tower of flats and ask the caretaker.'),
    'restaurant': (
        'You would like to sit down for a proper dinner with three friends, and be served.',
        'It is your father\'s birthday: share steamed fish and roast goose at a round table.',
        'You are hungry and want dishes from a menu, brought to your table by a waiter.',
        'Take a business partner out for a long lunch with several courses.'),
    'school': (
        'Your ten-year-old son forgot his exercise book. Take it to his classroom.',
        'It is parents\' evening of your daughter\'s fourth form. Meet her class teacher.',
        'Your niece is nine and has lessons until noon. Fetch her from class.',
        'You start work as a mathematics teacher for ten-year-olds.'),
    'sports_centre': (
        'You want to play badminton on an indoor court.',
        'You have booked an indoor court for table tennis.',
        'Your basketball team trains indoors today. Join it.',
        'Watch your son\'s indoor volleyball match.'),
    'station': (
        'You want to take the train into town.',
        'Your aunt arrives by train. Meet her.',
        'You have to buy a monthly train ticket.',
        'The underground is the quickest way home. Get to its platform.'),
    'stationery': (
        'You need pens, a ruler and a notebook for tomorrow.',
        'Get wrapping paper, envelopes and glue.',
        'Your fountain pen has run dry: buy ink.',
        'You want a ring binder and coloured pencils.'),
    'supermarket': (
        'Your fridge is empty: buy what you need for a week of cooking, with a trolley.',
        'You want to buy rice, oil, vegetables, milk and washing powder in one go.',
        'You cook for six tonight and need groceries of every sort.',
        'You have a long list of groceries, from frozen peas to soap.'),
    'taxi': (
        'You are in a hurry and want a driver to take you straight to your door.',
        'Your luggage is heavy: get a cab.',
        'You want to be driven to the airport, with no one else on board.',
        'Find a red cab that waits for passengers.'),
    'theatre': (
        'You have a ticket for a play with live actors.',
        'You want to hear Cantonese opera on a stage.',
        'Your friend acts in a drama. See him on stage.',
        'Ask at the box office for seats for a live drama.'),
    'toilets': (
        'You drank too much tea and cannot wait until you are home.',
        'Your child has to go, urgently.',
        'You want to wash your hands and relieve yourself.',
        'Nature calls. Find where you may answer without buying anything.'),
    'university': (
        'You attend a lecture for your bachelor\'s degree.',
        'You want to talk to a professor about your doctoral thesis.',
        'Your sister receives her master\'s degree on campus today. Be there.',
        'You want to walk over a campus and ask about a degree in law.'),
    'veterinary': (
        'Your cat has not eaten for two days.',
        'Your puppy needs his vaccinations.',
        'Your rabbit limps. Have it examined.',
        'The parrot has lost its feathers; somebody should look at it.'),
}

#: Other types of place that would meet the needs of a type as well: none of them is nearer.
ALSO_FITS: Mapping[str, tuple[str, ...]] = {
    'arts_centre': ('museum',),
    'atm': ('bank',),
    'bakery': ('supermarket', 'convenience', 'cafe'),
    'bar': ('restaurant', 'hotel'),
    'books': ('mall',),
    'cafe': ('restaurant', 'fast_food', 'bakery'),
    'clinic': ('hospital',),
    'clothes': ('mall',),
    'college': ('university',),
    'community_centre': ('sports_centre',),
    'convenience': ('supermarket',),
    'dentist': ('hospital',),
    'electronics': ('mall',),
    'fast_food': ('restaurant', 'cafe'),
    'fitness_centre': ('sports_centre',),
    'library': ('college', 'university'),
    'mall': ('marketplace',),
    'marketplace': ('supermarket',),
    'museum': ('arts_centre',),
    'park': ('playground',),
    'pharmacy': ('convenience', 'supermarket', 'hospital', 'clinic'),
    'playground': ('park',),
    'police': ('government',),
    'restaurant': ('fast_food', 'cafe', 'hotel'),
    'stationery': ('books', 'supermarket'),
    'supermarket': ('marketplace', 'convenience'),
    'theatre': ('arts_centre',),
    'toilets': ('mall', 'station', 'restaurant', 'cafe', 'fast_food'),
    'university': ('college',),
}
