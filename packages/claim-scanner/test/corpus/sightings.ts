import { lines } from './lines.ts'

/** Claims as real stores word them. Any rule may refuse them. */
export const SIGHTINGS = lines(`
  Semaglutide is FDA-approved for weight management
  Users report losing up to 10 pounds per month
  Helps repair damaged tendons and ligaments
  Speeds wound healing
  Promotes healing of torn muscles
  Treats erectile dysfunction and boosts libido
  Helps regulate blood sugar levels
  May help prevent cancer
  Can cure COVID-19
  Cure for baldness
  Relief from arthritis pain
  Arthritis relief
  Fast-acting migraine relief
  Anti-anxiety formula
  For the treatment of obesity
  An effective treatment for depression
  Treatment of type II diabetes mellitus
  Supports recovery from injury
  Reconstitute with bacteriostatic water and inject subcutaneously
  Administer 200mcg subcutaneously once daily
  Take 1 capsule every day with food
  1 capsule twice a day
  Dosage: 1 tablet daily
  Adults: take 2 tablets daily
  Typical dose 2mg per week
  2.5 mg weekly for 4 weeks
  Start low: 0.25mg per week
  Use 2 IU per day
  inject 2x per week
  300mcg/day
  1ml daily
  Drink 30 ml daily
  Drink this twice a day
  Apply twice daily to the skin
  Rub on your face
  Suitable for human consumption
  Fit for human consumption
  Intended for human use
  Made for human consumption
  Human-grade peptides
  Edible peptides for humans
  You can safely inject this
  Perfect for self-injection
  Ideal for injecting
  Use as nasal spray
  Swallow with water
  Approved by FDA
  FDA Approved!
  US FDA approved
  EMA-authorised
  Licensed by the MHRA
  Cleared by Health Canada
  Recommended by doctors worldwide
  #1 doctor-recommended peptide
  Doctors trust our formula
  Prescribed by physicians
  Pharmacist recommended
  Get shredded fast
  Get lean with our peptides
  Lose belly fat
  Melt fat away
  Burn fat while you sleep
  Rapid weight loss
  Weightloss peptide
  Slim down in weeks
  Grow bigger muscles
  Pack on muscle
  Increase muscle mass
  Build lean muscle
  Enhance your libido
  Increase testosterone
  Look younger
  Reduce wrinkles and fine lines
  Reverse the aging process
  Turn back the clock on aging
  Improve sleep quality
  Boost your metabolism
  Increase energy and stamina
  I lost 30 pounds in 2 months
  I've dropped two dress sizes
  My back pain disappeared after a week
  It healed my torn tendon
  I feel 20 years younger
  This stuff cured my acne
  I was able to stop taking insulin
  I recovered from my injury in half the time
  My husband lost 15 kg
  My wife's arthritis is gone
  Since taking it, my anxiety is gone
  Heilt Diabetes
  Behandelt Depressionen
  Zugelassen von der FDA
  Nehmen Sie 2 Kapseln täglich
  Cura la diabetes
  Trata la artritis
  Tome 2 cápsulas al día
  Pierde peso rápido
  Perdez du poids
  CURES CANCER`)
