/**
 * The words of the rules, by class. They are written as they fold: lower case, ASCII, no marks and
 * no apostrophes. A word may be in several classes.
 */
export const WORDS = {
  /** Verbs that say a product acts on an illness. */
  TREAT: `treat treats treating treated cure cures curing cured heal heals healing healed prevent
    prevents preventing prevented reverse reverses reversing reversed diagnose diagnoses diagnosing
    diagnosed remedy remedies remedied mitigate mitigates mitigating eradicate eradicates
    eradicating eradicated`,
  TREAT_NOUN: `treatment treatments cure cures remedy remedies therapy therapies relief healing
    reversal prevention medicine medication medications antidote`,
  /** Verbs that say a product acts on symptoms. */
  EASE: `relieve relieves relieving relieved alleviate alleviates alleviating alleviated ease eases
    easing eased soothe soothes soothing fight fights fighting fought beat beats beating combat
    combats combating eliminate eliminates eliminating eliminated banish banishes stop stops
    stopping end ends ending reduce reduces reducing reduced lower lowers lowering decrease
    decreases decreasing kill kills killing killed destroy destroys shrink shrinks shrinking
    suppress suppresses suppressing manage manages managing control controls controlling counter
    counters counteract counteracts improve improves improving improved calm calms calming erase
    erases defeat defeats defeating conquer conquers overcome overcomes overcoming resolve resolves
    clear clears clearing cleared repair repairs repairing minimize minimizes lessen lessens
    lessening attack attacks slow slows slowing halt halts inhibit inhibits quell quells tackle
    tackles`,
  /** Illnesses, conditions and symptoms that mean nothing else in a shop. */
  CONDITION: `baldness alopecia dysfunction cancer cancers cancerous tumor tumors tumour tumours
    leukemia leukaemia lymphoma melanoma carcinoma diabetes diabetic prediabetes arthritis
    osteoarthritis rheumatoid osteoporosis rheumatism gout alzheimer alzheimers dementia parkinson
    parkinsons epilepsy seizures migraine migraines hypertension cholesterol stroke strokes asthma
    copd bronchitis pneumonia tuberculosis influenza flu covid covid19 coronavirus hiv aids
    hepatitis herpes malaria lyme sepsis shingles eczema psoriasis rosacea acne dermatitis ulcer
    ulcers colitis crohn crohns ibs gastritis reflux heartburn constipation diarrhea diarrhoea
    nausea insomnia narcolepsy apnea adhd autism autistic ptsd bipolar schizophrenia anxiety obesity
    obese infertility impotence endometriosis pcos menopause hypothyroidism thyroiditis fibromyalgia
    neuropathy sciatica tendonitis tendinitis tendinopathy bursitis inflammation inflammatory
    infection infections disease diseases illness illnesses ailment ailments disorder disorders
    syndrome syndromes sickness cirrhosis anemia anaemia lupus sclerosis psychosis addiction
    alcoholism paralysis glaucoma cataracts allergies allergy sinusitis tinnitus vertigo
    incontinence prostatitis arrhythmia atherosclerosis thrombosis sarcopenia cachexia pathogens`,
  /** Conditions that are also everyday words: only with a medical verb do they make a claim. */
  AILMENT: `pain pains painful ache aches backache headache headaches toothache depression stress
    fatigue burnout wound wounds scar scars bruise bruises burns injury injuries fracture fractures
    cramps cramp sprain sprains swelling fever cold colds virus viruses viral bacteria fungus
    parasites hangover hangovers soreness stiffness symptom symptoms ill panic phobia trauma tendon
    tendons ligament ligaments cartilage gut arteries`,
  /** Verbs for which an AILMENT is enough. */
  MEND: `treat treats treating treated cure cures curing cured heal heals healing healed relieve
    relieves relieving relieved alleviate alleviates alleviating diagnose diagnoses soothes remedies
    eases`,
  BODY_PART: `back knee knees joint joints neck shoulder shoulders hip hips muscle muscles nerve
    chest tendon stomach chronic tooth menstrual arthritic sciatic lower foot elbow`,

  INGEST: `take takes taking taken ingest ingests ingesting ingested swallow swallows swallowing
    swallowed consume consumes consuming consumed drink drinks drinking administer administers
    administering administered snort snorts`,
  INJECT: `inject injects injecting injected selfinject pin pinning`,
  INJECTION: 'injection injections injectable injectables shot shots jab jabs',
  APPLY: 'apply applies applying applied rub rubs rubbing massage massages',
  ROUTE: `orally oral sublingual sublingually subcutaneous subcutaneously intramuscular
    intramuscularly intravenous intravenously intranasal intranasally subq subcut transdermally
    rectally nasally`,
  INTO: `belly abdomen abdominal thigh thighs muscle vein veins stomach glute glutes arm buttock
    deltoid skin bloodstream body butt navel`,
  SKIN: `skin face scalp forehead wound wounds gums eyelids hairline`,
  FIT: `for safe fit suitable approved intended designed ready made formulated ok okay fine good
    recommended meant`,
  HUMAN: 'human humans people person persons adults patients women men children',
  USE_NOUN: `consumption use ingestion injection injections administration intake usage application
    dosing`,
  COMPOUND: `peptide peptides bpc bpc157 tb500 semaglutide tirzepatide retatrutide ipamorelin
    sermorelin tesamorelin cjc cjc1295 ghrp ghk melanotan selank semax epitalon aod9604 kisspeptin
    thymosin sarm sarms ostarine rad140 ligandrol mk677 cardarine igf hgh nad oxytocin dsip mots
    cagrilintide liraglutide hexarelin`,
  SUBSTANCE: `vial vials dose doses solution compound compounds powder serum syringe ampoule
    ampoules capsule capsules tablet tablets pill pills drops extract tincture softgel softgels
    lozenge scoop scoops`,
  MEAL: 'food meal meals breakfast dinner lunch water stomach',

  NUM: 'one two three four five six seven eight ten twelve half',
  SMALL: 'one two three four five six half a',
  MASS: 'mg mcg ug iu ius milligrams milligram micrograms microgram units unit mgs mcgs',
  VOLUME: 'ml mls cc millilitre millilitres milliliter milliliters g gram grams',
  PIECE: `capsule capsules tablet tablets pill pills dose doses drops drop injection injections vial
    vials softgel softgels puffs sprays`,
  EVERY: `daily weekly nightly monthly biweekly everyday bedtime`,
  DAY: 'day days week weeks morning night evening month bed bedtime hours workout',
  PER: 'per a each every before',
  TIMES: 'once twice thrice',
  DOSE: 'dose doses dosage dosages dosing dosed',

  AGENCY: 'fda ema mhra tga anvisa',
  APPROVED: `approved approves approval cleared clearance registered certified authorised authorized
    endorsed licensed accredited sanctioned accepted validated`,
  CLINICIAN: `doctor doctors physician physicians clinic clinics clinician clinicians dermatologist
    dermatologists pharmacist pharmacists surgeon surgeons nurse nurses cardiologist medical
    neurologist oncologist oncologists pediatrician endocrinologist hospital hospitals gp gps`,
  RECOMMENDED: `recommended recommend recommends approved approve endorsed endorse prescribed
    prescribe trusted formulated backed`,

  LOSE: `lose loses losing lost shed sheds shedding drop drops dropping dropped`,
  BURN: `burn burns burning melt melts melting torch torches torching incinerate blast blasts`,
  FAT: 'fat bodyfat bellyfat flab cellulite',
  WEIGHT: 'weight',
  POUNDS: 'lbs lb pounds pound kg kgs kilos kilo kilograms inches stone',
  BOOST: `boost boosts boosting increase increases increasing increased enhance enhances enhancing
    improve improves improving improved raise raises stimulate stimulates promote promotes promoting
    support supports supporting accelerate accelerates accelerating speed speeds optimize optimizes
    maximize maximizes supercharge supercharges skyrocket restore restores restoring elevate elevates amplify amplifies build
    builds building gain gains gaining grow grows growing pack add adds jumpstart`,
  GAIN: 'build builds building gain gains gaining grow grows growing pack packs add adds bigger',
  VITAL: `testosterone libido erections erection metabolism immunity immune hormone hormones
    collagen hgh igf cognition cognitive fertility virility circulation appetite potency longevity
    sexdrive`,
  BETTER: 'better deeper restful deep sounder faster improved quality uninterrupted',
  FAST: `faster quicker speeds speed accelerates accelerate accelerated accelerating promotes
    promote rapid stimulates enhances supports boosts`,

  SELF: 'i ive im id we weve my me myself',
  GONE: `gone disappeared vanished healed cured improved cleared reversed better faded subsided
    stopped lifted shrank dropped went left relieved resolved`,
  FELT: 'feel feels felt feeling look looks looking looked sleep slept sleeping',
  AGE: 'years decades decade',

  PRODUCT_NAME: `medicine medicines medication medications drug drugs therapy therapies therapeutic
    therapeutics remedy remedies pharmaceutical pharmaceuticals nutraceutical nutraceuticals`,
  PROVEN: 'clinically scientifically medically',
  MIRACLE: 'miracle miracles miraculous',

  /** Things that a shop sells: what happens to them happens to no body. */
  THING: `cable cables cord cords wire wires connector connectors plug plugs weld welds seam seams
    spring springs bearing bearings bolt bolts hinge hinges shaft beam glass steel metal concrete
    rubber plastic plastics polymer polymers resin seal seals gasket gaskets coating coatings varnish
    paint film paper carton cartons box boxes package packages packaging parcel parcels pallet tray
    fruit fruits vegetables produce sample samples material materials wood timber leather fabric
    yarn bottle bottles flask flasks jar jars pan pans pot pots kettle vase carafe decanter solder
    joint battery batteries machine engine frame board circuit pcb hose pipe pipes roof wall walls`,

  /** Goods sold for research. A document that names one needs a notice. */
  RESEARCH_GOODS: `peptide peptides bpc157 tb500 semaglutide tirzepatide retatrutide ipamorelin
    sermorelin tesamorelin cjc1295 melanotan selank semax epitalon sarm sarms ostarine rad140
    ligandrol mk677 cardarine lyophilized lyophilised nootropics`,
} as const

/** The effect of words on their clause. */
export const GRAMMAR = {
  /** Denies the clause that follows. */
  NOT: `not never cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt shouldnt mustnt
    couldnt hasnt havent neither nor none unfit unsuitable unsafe unapproved prohibits prohibit
    forbids forbid disclaim disclaims disclaimed refuse refuses reject rejects illegal unlawful`,
  /** Denies the clause when a subject follows, else the next words alone. */
  NO: 'no nothing',
  SUBJECT: `claim claims statement statements product products item items part information content
    person one way means material materials compound compounds article text representation
    representations guarantee guarantees warranty on in here herein contained intended evidence
    proof circumstances reason peptide peptides substance substances medical`,
  /** Denies the next few words. */
  LACKING: 'without avoid avoids refrain lacks',
  /** Words that end a denial if they follow it directly. */
  TAKEN_BACK: `only just merely simply solely alone surprisingly doubt wonder matter longer more
    other better faster stronger need problem worries question exaggeration`,
  /** Words that reverse a denial: "never fails to cure" is a claim. */
  TURNING: `fail fails failed failing hesitate forget doubt deny wait miss worry delay underestimate
    resist lie`,
  CONTRAST: `but however yet although though instead rather except because while whereas unless
    until so still then nevertheless therefore`,
  AND: 'and or plus also',
  THAT: 'that',
  PRONOUN: 'it this these they we you i our its',
  COPULA: 'is are be being was were remains',
  FORBIDDEN: 'prohibited forbidden banned unlawful illegal disallowed',
  /** Denied, these deny the words before them: "injection is not permitted". */
  PERMITTED: `permitted allowed intended recommended advised authorised authorized condoned
    supported sold supplied provided offered given included`,
  AUX: 'is are do does can may will should could would',
  GLUE: `for to be or and any of the a an in by with not no never human as your on from do is are
    intended`,
  WHY: 'why',
  /** Words that speak of people or to them, so that a claim beside them is about people. */
  ADDRESSED: `you your yours yourself i my me we our ours us human humans people patient patients
    men women adults customers users athletes bodybuilders buy buyers order daily nightly
    guaranteed take inject dose doses capsule capsules pill pills tablet tablets serum supplement
    peptide peptides bpc bpc157 tb500 semaglutide tirzepatide retatrutide ipamorelin sermorelin
    tesamorelin melanotan selank semax epitalon sarm sarms ostarine rad140 ligandrol mk677
    cardarine hgh`,
} as const

/** Classes of verbs. After a comma one of these verbs begins a new clause. */
export const VERB_CLASSES = ['TREAT', 'EASE', 'INGEST', 'INJECT', 'APPLY', 'LOSE', 'BURN', 'BOOST']

/**
 * Words of ordinary English that are one swap or one doubled letter away from a claim word. They are read as
 * themselves.
 */
export const ORDINARY_WORDS = `there most form forms expect waits brian beta arise arises loose looser looses tired reserve reserved reserves reserving lots feet indented fell shooting shoot tartar tartan livre curse cursed beast beasts resorting lief lena moore loess denny clam clams coast coasts bolt slat trail sacred angel quiet salve slave fats spots strat`
