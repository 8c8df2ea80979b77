import { lines } from './lines.ts'

/** Short harmless texts of labels, buttons and reviews, worded as near to a claim as possible. */
export const EVERYDAY = lines(`
  This album will heal your soul
  Cold beer, hot wings, no stress
  Relax: zero stress returns
  Stress-free returns
  A pain-free checkout experience
  Painless setup in minutes
  Say goodbye to tangled cables
  Say goodbye to messy desks
  Get rid of stubborn stains
  Gluten free and sugar free
  Reduce your carbon footprint
  Control your lights with your voice
  The best cure for boredom
  A cure for the common cold brew
  The ultimate treat for coffee lovers
  Treat your feet
  Treat them to something special
  Back pain? Our chairs are adjustable.
  Ergonomic chair with lumbar support
  Weight: 250 g. Dimensions: 10 x 20 cm
  Net weight 500 mg
  1 mg reference standard
  10 mg vial
  5 mg lyophilized powder per vial
  Vials per box: 10
  Sold in packs of 2 per day of the week
  Ships every day before noon
  One per customer per day
  Two pumps, one per bottle
  Pump 2 times before first use
  Take one, leave one
  Take one home today
  Take the day off
  Take part in our weekly quiz
  Take a shot with our camera
  Take your time
  Taking orders daily
  Use daily
  Use twice weekly to keep the grill clean
  Apply weekly to leather boots
  Apply to dry wood and let it sit for 2 hours
  Apply evenly to the surface
  Rub into leather
  Massage chair
  Face cream
  Hand soap for daily use
  Gentle on skin
  Safe for pets
  Safe for kids
  Not tested on animals
  Human-centred design
  For people who love books
  Made for humans, by humans
  People recommend us
  Recommended by 95% of customers
  Recommended by teachers
  Approved vendor
  Approved for outdoor use
  Registered in England and Wales
  Certified organic
  Certified by the Soil Association
  Clinical thermometer
  Hospital bed frames
  Medical books
  Doctors Without Borders donation
  Nurse shoes
  Prescription glasses
  Prescription lenses available
  We do not need a prescription
  Sleep tight
  Sleep well on our linen
  Sleepwear
  Good night's sleep
  Growth hacking guide
  Plant growth
  Promotes plant growth and healthy roots
  Boosts crop yield
  Boost Wi-Fi signal
  Boost engine performance
  Increase tyre life
  Increases storage capacity
  Improves grip strength of the glue
  Improves circulation of air
  Supports up to 150 kg
  Supports growing businesses
  Muscle power
  Build strength with our kettlebells
  Strength training equipment
  Gain access to member prices
  Add 2 kg to your order
  Lose yourself in a story
  Lose the wires
  Don't lose your keys
  Drop us a line
  Drop shipping
  Drop 20% of the price
  I lost my heart in San Francisco
  My heart is gone
  My favourite mug is gone forever
  I feel better with this backpack
  I am sleeping better on this mattress
  I sleep in it
  My dog recovered quickly
  I have been using this for two weeks
  I used 5 ml of glue
  We gained 200 customers
  We lost a parcel
  It saved my life
  It fixed my bike
  It helped me a lot
  It cured my boredom
  Chemistry set for ages 8+
  Peptide synthesis reagents for laboratory use
  Peptide bond explained
  Certified reference material: semaglutide, for laboratory research use only
  BPC-157, 5 mg. For research use only. Not for human consumption.
  Studies of inflammation in cell culture
  Assay kit for diabetes research
  Anti-inflammatory antibody panel
  Antibody against tumor necrosis factor
  Cancer biology textbook
  Alzheimer's disease: a guide for families
  Living with diabetes: a cookbook
  Diabetes-friendly recipes
  A novel about a woman with cancer
  How the flu of 1918 changed the world
  The history of the AIDS crisis
  Depression glass plates
  Insulin cooler bag
  Insulin syringes are not sold here
  Syringe filters 0.22 um
  Injection vials, clear glass
  Drip tray for shots
  Inject your personality
  Oral-B brush heads
  Oral exam preparation
  Drops every Friday
  New drop every week
  Scoop of ice cream
  Two scoops a day keep the blues away
  Capsule wardrobe
  Coffee capsules, 10 per box
  Coffee pods: one capsule per cup
  Tablet stand
  Drink coasters
  Drink more water
  Powder coated steel
  Serum bottle, amber glass
  Cycle shorts
  3 day cycle tour
  Menstrual cycle explained
  Two week cycle of deliveries
  A 12 week plan to learn chess
  Dose the fertiliser once a week
  Recommended dose: 5 ml per litre of water for plants
  Detergent: recommended dosage 30 ml per wash
  Aquarium conditioner: 5 ml per 40 litres weekly
  Doses up to 20 g of coffee
  Single dose grinder
  Fat washing a bourbon
  Low fat yoghurt
  Fat free
  Fat bike
  Burn CDs
  Burns wood pellets
  Melts chocolate evenly
  Torch with 300 lumens
  Age-old recipe
  Wine improves with age
  Ageing steak
  Slow living
  Younger siblings love it
  Fine lines drawing pen
  Clear skin sticker
  Tight fitting lid
  Remedy for a dull room
  Retail remedies
  Drugs and alcohol policy
  Drug test kits? We do not sell them.
  War on drugs documentary
  No drugs, no alcohol
  Therapy putty
  Light therapy lamp
  Physical therapy bands
  Food processor
  Health and safety signs
  Clearance: everything must go
  EMA Jones pottery
  Tga bag
  Virus-free downloads
  Kills 99.9% of bacteria on surfaces
  Disinfects surfaces and kills viruses
  Antibacterial cutting board
  Prevents mould
  Prevents mold and mildew
  Prevents injuries
  Prevents accidents
  Prevents burns when cooking
  Prevents blisters
  Prevents dehydration of plants
  Treats scale in kettles
  Treatment of waste water
  Reverses direction
  Reverse any charge within 30 days
  Diagnose engine faults
  Diagnoses network problems
  Heal the world, poster
  Healing crystals
  Wound cotton yarn
  Wound wire core
  Scar the wolf plush
  Fever Tree tonic
  Flu jab appointment card holder
  Stops bleeding ink
  Relief printing set
  Calms the mind
  Calming lavender candle
  Relaxing bath salts
  Energy drink cooler
  Boost your energy with our espresso
  Feel the difference
  Feel ten feet tall
  Look years ahead
  Get ripped jeans
  Ripped jeans
  Shredded paper
  Six pack of beer
  Flat pack
  Belly bands
  Skin tone paint`)
