import { lines } from './lines.ts'

/** Texts of stores of several trades. */
export const SHOP_COPY = lines(`
  Single origin Ethiopian beans with notes of blueberry and jasmine, roasted every Tuesday.
  Our espresso blend pulls a syrupy double shot with a long chocolate finish.
  Grind fresh, use 18 g per cup, and drink within two weeks of opening.
  Decaf that does not taste like decaf: washed with mountain water, not solvents.
  Subscribe and get a new coffee every month. Cancel at any time.
  Brew ratio: 60 g per litre. Start with water just off the boil.
  Our cafe is open daily from 8 to 6, and the pastries are baked every morning.
  A burr grinder that will last for years, with spare parts for every screw.
  M8 hex bolts, hot dip galvanised, box of 50.
  Cordless drill with two batteries and a hard case.
  This wood oil protects against moisture and prevents cracking.
  Two-part adhesive: cures in 30 minutes and can be sanded after two hours.
  Safety boots with steel toe caps prevent injuries on site.
  Work gloves that take a beating, sizes 7 to 11.
  Ladder tested to 150 kg. Do not stand on the top step.
  Our saw blades stay sharp longer thanks to heat treatment.
  A rust remover that works on tools, bikes and gates.
  Free cutting of boards in our store every Saturday.
  Merino jumper, knitted in Portugal, soft enough to wear next to the skin.
  A loose fit dress in washed linen with deep pockets.
  Wrinkle-resistant shirt that looks pressed all day.
  Slim fit jeans with a little stretch.
  Our muscle fit tee runs small: size up.
  Jacket with taped seams that keeps rain out and lets heat escape.
  Wash cold, dry flat, and treat stains with a mild soap.
  The boots are cut from vegetable tanned leather and age beautifully.
  Winner of the national book award, now in paperback.
  A novel about grief, healing and the sea.
  The history of medicine in one hundred objects.
  A cookbook for people who do not like to cook.
  Signed first edition, dust jacket in fine condition.
  The diary of a country doctor in the nineteen thirties.
  A memoir of living with depression, told with humour.
  How to lose friends: a comedy in three acts.
  A field guide to the birds of northern Europe.
  Benchtop centrifuge, 15,000 rpm, with rotor for 24 tubes.
  Borosilicate beakers, set of five, graduated.
  Pipette tips, sterile, rack of 96. For laboratory use only.
  All reagents are for research use only and not for human consumption.
  Lyophilized peptides, purity above 99 % by HPLC, for in vitro research use only. Not for human use.
  Each vial holds 5 mg of lyophilized powder. For research use only.
  Certificate of analysis and mass spectrum supplied with every batch.
  Store at -20 C, away from light. Reconstitute in sterile buffer for cell culture assays.
  The column withstands 400 bar; injection volume up to 100 microlitres.
  Fume hood with airflow alarm, registered design.
  Digital scale, readable to 0.1 mg, calibrated and certified.
  pH meter with automatic temperature compensation.
  Multivitamin-coloured stickers for your laptop.
  Green tea from the first harvest, tied by hand.
  Herbal tea with mint and lemon balm, no caffeine.
  Oat bars with nuts and dried fruit, 40 g each.
  Sparkling water with a squeeze of grapefruit.
  Organic honey from our own hives.
  Cast iron pan: heats evenly, cleans easily, lasts for ever.
  Dishwasher tablets, 60 pieces, one tablet per wash.
  Yoga mat, 6 mm, natural rubber.
  Kettlebell 16 kg, powder coated.
  Running belt with room for phone and keys.
  Bicycle helmet with light, approved to EN 1078.
  Pillow filled with buckwheat hulls, for side sleepers.
  Mattress topper in natural latex, 7 cm.
  Cotton bedding for a good night.
  Free shipping on orders over $50. Returns within 30 days.
  Our support team answers within one working day.
  We are a family business and have been in this street since 1974.
  Gift cards never expire and can be used in the shop and online.
  Sign up and take 10 % off your first order.
  Your privacy matters: we do not sell your data.
  Handmade in small batches, so every piece is a little different.
  Pay by card, bank transfer or cash on delivery.
  Dog biscuits baked with pumpkin: treats your dog will sit for.
  Cat litter that controls odour for weeks.
  Bird seed mix for the winter months.
  Tomato seeds, an old variety resistant to most diseases.
  Slow release fertiliser, dose by the size of the pot.`)
