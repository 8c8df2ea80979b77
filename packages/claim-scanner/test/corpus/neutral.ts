import { lines } from './lines.ts'

/** Words of claims in a harmless sense. */
export const NEUTRAL = lines(`
  Cured concrete
  Cures in 24 hours under UV light
  Let the resin cure overnight
  Dry-cured ham and air-cured sausage
  The epoxy is fully cured after two days
  Treat yourself to a gift box
  Treat your friends to coffee
  Dog treats
  A sweet treat for any occasion
  Trick or treat bags
  Heat treatment of steel
  Heat-treated blade
  Surface treatment
  Water treatment plant
  Pressure treated timber
  We treat customers fairly
  Treats wood and leather
  Dose-response assay in vitro
  Dose response curve fitting software
  A daily dose of inspiration
  Your daily dose of caffeine
  Dosing pump for aquariums
  Detergent dosing cup
  Radiation dose meter
  Sleep mode
  Sleep timer and alarm
  A silk sleep mask
  Sleeping bag for cold nights
  Muscle car calendar
  Muscle tee in washed cotton
  Prevents rust
  Prevents corrosion and leaks
  Prevents scratches on your screen
  Helps prevent fraud
  Heal brush tool
  Self-healing cutting mat
  Self-healing rubber
  Healing brush in our photo editor
  Drug-free workplace
  Drug discovery toolkit
  Drug store counter, 1950s print
  Reverse engineering for beginners
  Reversible jacket
  Reverse osmosis filter
  Reverse charge applies
  Fuel injection system
  Injection moulding machine
  Injection molded case
  Inject some colour into your wardrobe
  Dependency injection container
  Protects from SQL injection attacks
  Sterile water for injection, HPLC grade
  Injection valve for liquid chromatography
  Sample injection volume 5 ml
  Weight plates 20 kg
  Weight limit 120 kg
  Paperweight
  Lightweight and breathable
  Burns clean for 40 hours
  Burn time 60 hours
  Fat quarter fabric bundle
  Fat tyre bicycle
  Full fat milk
  Stress test results
  Stress tested to 500 kg
  Strain relief clamp
  Metal fatigue testing
  Computer virus scanner
  Prevents malware infections
  Cold brew coffee
  Cold pressed juice
  Pain au chocolat
  Solves the pain points of bookkeeping
  Four-stroke engine
  Stroke width 2 px
  Hearing aids case
  Band aids tin, vintage
  Tropic of Cancer by Henry Miller
  The Great Depression, a history
  Proceeds go to cancer research
  We donate to the diabetes charity
  Cancer zodiac necklace
  Cancer cell line culture medium
  Inflammation ELISA kit
  Disease-resistant tomato seeds
  Prevents potato blight
  Registered office
  Registered trademark
  Customs clearance
  Clearance sale
  Approved by our buyers
  Approved dealers
  Recommended by our readers
  Editor recommended
  Doctor Who poster
  Doctor Zhivago, paperback
  Medicine ball 5 kg
  Medicine cabinet with mirror
  A history of medicine
  Retail therapy
  Aromatherapy candle
  Therapy dog calendar
  Apply coupon at checkout
  Apply two coats of paint
  Apply to become a dealer
  Face paint set
  Skin for your laptop
  Bicycle cycle lane map
  Wash cycle 40 degrees
  Cycle to work scheme
  Life cycle assessment
  Take two steps back and look
  Take it with you everywhere
  Take a seat
  Take 20% off
  Drink responsibly
  Drink it black
  Hot drinks and cold drinks
  Shots of espresso
  Shot glass set
  Half a dozen eggs daily from our farm
  Delivered daily
  Two deliveries per week
  Twice weekly newsletter
  500 g per bag
  5 ml per minute flow rate
  Extracts 750 ml per day
  Weekly specials
  250 mg/L standard solution
  Capacity 200 tablets per minute
  We lost 20 parcels last year
  I lost my luggage and they replaced it
  I take this bag everywhere
  My back pack is great
  My order is gone from the list
  It changed my life as a cook
  Growth chart for children
  Build a strong brand
  Boost your sales
  Improve your typing speed
  Increase the volume
  Anti-slip mat
  Anti-theft bag
  Ageing cheese at home
  Barrel aged rum
  Youthful colours
  Look sharp
  Clear glass jar
  Hair clip
  Flat white
  Human resources handbook
  Human-readable logs
  Use only with the supplied charger
  Consumption tax included
  Low power consumption
  Safe for dishwashers
  Safe for children over three years
  Suitable for indoor use
  Oral history archive
  Patients and patience: a memoir
  Fast recovery of deleted files
  Disaster recovery plan
  Data recovery in hours
  Emergency relief fund
  Relief map of the Alps
  Relieves pressure in the pipe
  Kills weeds
  Stops leaks
  Ends on Sunday
  Controls moisture
  Fights grease
  Beat the queue
  Manage orders
  Lower prices
  Reduce waste
  Clear skies`)
