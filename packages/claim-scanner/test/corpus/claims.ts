import { lines } from './lines.ts'

/** Texts that must be refused, by the rule that refuses them. */
export const CLAIMS = {
  disease_claim: lines(`
    Treats cancer
    This peptide cures diabetes in weeks.
    Our formula heals arthritis naturally
    Prevents Alzheimer's disease
    Reverses type 2 diabetes
    Diagnoses and treats hypertension
    BPC-157 treats, cures and prevents all forms of inflammation.
    A proven remedy for anxiety
    The natural cure for insomnia
    Relieves chronic back pain
    Reduces inflammation and joint pain
    Lowers blood pressure within days
    Lowers your blood sugar
    Effective against depression
    Helps with anxiety and panic attacks
    Say goodbye to migraines
    Get rid of eczema for good
    Fights tumors at the source
    Shrinks tumours
    Kills cancer cells
    Your diabetes will be cured
    An alternative cancer treatment
    Used to treat ulcerative colitis
    Great for fibromyalgia
    Works for arthritis
    Anti-inflammatory and anti-cancer
    Alleviates symptoms of fibromyalgia
    Protects against heart disease
    Not only treats but cures cancer
    No more migraines
    Heals wounds and tendon injuries
    Fast headache relief
    It is not a drug, it cures diabetes
    Heilt Krebs
    Lindert Schmerzen und Arthrose
    Cura el cáncer
    Guérit le cancer
    Soulage les douleurs
    Never fails to cure arthritis`),
  human_use: lines(`
    For human consumption
    Suitable for human use
    Safe for human consumption
    Take orally
    Take two capsules with water
    Inject yourself once a week
    Inject subcutaneously into the abdomen
    Inject it into your belly fat
    Self-injection made easy
    Safe for humans
    Apply to skin twice a week
    Apply a thin layer to the affected area
    Drink one vial before breakfast
    Ingest this powder
    Swallow one capsule whole
    Place two drops under the tongue
    Subcutaneous injection recommended
    Administer intramuscularly
    Take on an empty stomach
    Take before bed
    Injectable peptides for you
    How to inject BPC-157
    Approved for human use
    Comes with insulin syringes
    Rotate injection sites
    Für den menschlichen Verzehr
    Para consumo humano
    Pour la consommation humaine
    Snort this powder
    Ready to inject`),
  dosage: lines(`
    250 mcg per day
    250mcg/day
    Take 2 capsules daily
    2 iu twice weekly
    500 mg every morning
    Twice weekly dosing
    Inject 250 mcg daily
    Recommended dose: 5 mg
    Recommended dosage
    Dosing protocol for beginners
    Start with 0.25 mg once a week
    5 mg once weekly
    10 mg per kg of body weight
    8 week cycle
    Run a cycle of ostarine for 8 weeks
    4 weeks on, 4 weeks off
    One tablet every night
    Two pills a day
    A dose of 100 mcg before bed
    100 µg per day
    Two injections per week
    Microdosing schedule included
    Increase the dose by half each week
    Dosage for adults
    Post cycle therapy
    3 capsules 2 times daily
    Loading dose of 10 mg
    250 mcg täglich
    250 mg por día`),
  approval_claim: lines(`
    FDA approved
    Approved by the FDA
    FDA-cleared formula
    FDA registered product
    F.D.A. approved
    EMA approved
    MHRA approved
    TGA registered
    Approved by Health Canada
    Health Canada approved
    Approved by the Food and Drug Administration
    Doctor recommended
    Recommended by leading doctors
    Clinic approved
    Prescription strength
    Physician formulated
    Trusted by clinicians
    Doctors recommend this peptide
    Endorsed by dermatologists
    Medically approved
    The FDA has approved this compound
    Von der FDA zugelassen
    Aprobado por la FDA
    Approuvé par la FDA`),
  body_outcome: lines(`
    Lose weight fast
    Weight loss guaranteed
    Lose 20 lbs in a month
    Burns belly fat
    The ultimate fat burner
    Build muscle faster
    Muscle growth like never before
    Increases lean mass
    Anti-aging peptide
    Anti-ageing serum
    Reverses aging
    Look ten years younger
    Boosts libido
    Improves sexual performance
    Boosts testosterone levels
    Promotes deep sleep
    Improves your sleep
    Fall asleep faster
    Accelerates healing
    Speeds up muscle recovery
    Suppresses appetite
    Boosts your immune system
    Increases metabolism
    Hair regrowth in weeks
    Smooths fine lines and wrinkles on your face
    Wound healing support
    Sheds pounds of fat
    Gain muscle and strength
    Muskelaufbau leicht gemacht
    Perte de poids rapide`),
  testimonial: lines(`
    I lost 20 lbs
    I have lost 12 kg since March
    My pain is gone
    My arthritis disappeared
    It cured my insomnia
    This healed my knee
    I feel ten years younger
    My anxiety is completely gone
    My doctor was amazed
    I no longer have back pain
    I inject it every morning
    I took 250 mcg and felt amazing
    After 3 weeks my pain was gone
    I sleep better since I started
    I gained 5 kg of muscle
    It fixed my tendonitis
    I was cured in a month
    We lost so much weight
    My psoriasis cleared up
    Ich habe 10 Kilo abgenommen
    He perdido 10 kilos`),
} as const

/** Texts that are shown to the merchant and not refused. */
export const WARNINGS = {
  product_identity: lines(`
    The best dietary supplement around
    A food supplement like no other
    A powerful medicine
    This drug is popular
    A new kind of therapy
    An ancient remedy
    Pharmaceutical grade powder
    Herbal supplements
    Our medication ships worldwide
    Therapeutic blend
    A nutraceutical
    Natural remedies
    Medicines delivered
    Health supplements
    Nutritional supplement`),
  efficacy_hype: lines(`
    Clinically proven
    Scientifically proven
    Guaranteed results
    Results guaranteed
    No side effects
    A miracle in a bottle
    Without any side effects
    Zero side effects
    Completely safe
    Medically proven
    Proven to work
    Clinically tested
    A miraculous powder
    Perfectly safe
    Proven efficacy`),
} as const
