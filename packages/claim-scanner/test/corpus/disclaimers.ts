import { lines } from './lines.ts'

/** Prohibitions and disclaimers: they name a claim to deny it. */
export const DISCLAIMERS = lines(`
  Not for human consumption
  NOT FOR HUMAN CONSUMPTION.
  Not for human or veterinary use
  Not for human or animal consumption, injection or ingestion.
  For laboratory research use only
  For research use only. Not for use in diagnostic procedures.
  Not intended to diagnose, treat, cure or prevent any disease
  This product is not intended to diagnose, treat, cure, or prevent any disease.
  These statements have not been evaluated by the FDA.
  These statements have not been evaluated by the Food and Drug Administration. This product is not intended to diagnose, treat, cure or prevent any disease.
  Has not been evaluated by the FDA
  Not approved by the FDA
  Not FDA approved
  This product is not FDA approved for human use.
  The FDA has not approved this compound
  No claims are made that this compound treats any disease.
  We make no claim that our peptides cure cancer
  Do not inject
  Do not inject yourself or others.
  Do not ingest, inject, inhale or apply to skin.
  Do not take orally
  Do not take 2 capsules daily
  Never for human use
  Never inject, swallow or drink any compound from this site
  Human consumption is strictly prohibited
  Human use is prohibited.
  Injection into humans or animals is forbidden
  No dosing instructions are given
  We do not give dosage advice or dosing protocols.
  We cannot recommend a dose for humans
  Our products are not medicines, drugs, foods or dietary supplements.
  Not a dietary supplement
  Nothing on this site is intended to treat or cure any disease
  Nothing here is medical advice or a treatment for any condition
  No product on this site is intended for human use
  No statement on this page is meant to promise weight loss
  It does not treat, cure or heal anything
  It does not cure cancer
  This compound doesn't cure diabetes.
  They aren't approved by the FDA, EMA or MHRA
  Must not be injected into the body
  You may not use these compounds on yourself or other people
  Should not be consumed by humans
  Not safe for human consumption
  Unfit for human consumption
  Unsuitable for human use
  We do not promise weight loss, muscle growth or better sleep.
  Neither for human consumption nor for use in food
  Without any claim of healing
  Is it for human consumption? No.
  Can I inject this? No. All products are for laboratory research use only.
  Are your peptides safe for humans? Never use them on people.
  In vitro research use only; not for human dosing
  This material is not a drug and has not been approved by the FDA to prevent, treat or cure any medical condition, ailment or disease.
  The products are not for injection, ingestion or topical application to humans
  Buyers agree that the compounds are not for human consumption
  Not for medical, cosmetic or household use
  Keep out of reach of children. Not for human consumption.
  We do not sell to anyone who intends to inject or ingest our products
  No medical claims are made for any product
  Do not use for weight loss or bodybuilding
  Misuse, including human consumption, is prohibited
  Avoid injection
  Nicht für den menschlichen Verzehr
  Nicht zur Anwendung am Menschen bestimmt, heilt keine Krankheit
  Keine Behandlung von Krankheiten
  No apto para consumo humano
  No cura ninguna enfermedad
  Non destiné à la consommation humaine
  Ne guérit pas le cancer
  <p>Not for <b>human</b> consumption</p>
  NOT&nbsp;FOR&nbsp;HUMAN&nbsp;CONSUMPTION
  Human use is not permitted
  Injection into people is not allowed.
  Dosing instructions are not given
  Insulin syringes are not sold here and injection is not condoned
  We are not doctors and do not recommend a dosage
  You agree not to inject, ingest or otherwise use it on people
  We don't make any claims that our peptides treat or cure any disease.
  None of our products are intended for human consumption
  All products are sold strictly for in-vitro laboratory research and are not intended for human or animal use of any kind.
  Not a drug, food, or cosmetic. Not for human or household use.
  You must not inject, ingest, or otherwise administer these products to humans
  Products are not dietary supplements and are not to be taken internally.
  This information is not a substitute for medical advice and not meant to diagnose or treat a condition
  By purchasing you confirm that you will not use these for human consumption, injection, weight loss or bodybuilding.
  Warning: harmful if swallowed. Do not drink.
  The statements on this website have not been evaluated by the Food & Drug Administration.
  We never provide dosing information, and will cancel orders that ask for it.
  Any mention of human use will lead to cancellation of the order
  Sale for human consumption is strictly forbidden by law
  Research chemicals are neither medicines nor supplements, nor are they approved by the FDA.
  This is not medical advice. It isn't intended to treat, cure, or prevent illness.
  This product does not prevent, treat, or cure COVID-19
  We cannot answer questions about dosage, injection or human use
  Bodily introduction of any kind into humans or animals is strictly forbidden by law.
  not for human
  Please do not ask us how to inject it
  We refuse orders intended for human consumption
  It is illegal to sell these for human consumption
  No human consumption
  no human use
  FDA disclaimer: this product has not been approved for human use
  Does this cure cancer? No.
  It is not known whether this compound treats any disease
  There is no evidence that it cures cancer
  Makes no claims to heal, treat or cure
  Misbranding: we make no representation of weight loss
  Customers who say they will inject the product are refused`)
