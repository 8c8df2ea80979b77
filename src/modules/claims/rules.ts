import { createHash } from 'node:crypto'
import { CONFUSABLES } from './confusables.ts'
import type { RuleId } from './schema.ts'
import { GRAMMAR, VERB_CLASSES, WORDS } from './words.ts'

/**
 * Phrases by rule. A phrase is a row of steps; a step is a class of words.ts (upper case), a word, or
 * several with a bar between. `~3` lets up to three other words stand before the next step. No
 * phrase reaches over the end of a sentence. A leading `!` reads denied words too.
 */
export type PhraseOwner = RuleId | 'neutral' | 'notice'

export const PHRASES: Readonly<Partial<Record<PhraseOwner, string>>> = {
  disease_claim: `
    TREAT ~7 CONDITION
    EASE ~4 CONDITION
    MEND ~3 AILMENT
    relieve|relieves|relieving|reduces|reduce|ease|eases|stops|stop|kills|fights|soothe ~1 BODY_PART ~1 AILMENT
    relieve|relieves|reduces|reduce|stops|kills|fights|ends|eliminates ~1 pain
    reduces|reduce|eliminates ~1 swelling
    lowers|lower|reduces|reduce|regulates|balances|controls ~2 blood pressure|sugar|glucose
    senkt ~2 blutdruck|blutzucker
    kills|kill|destroys|fights ~3 cancer|tumor|tumour|virus|viruses|bacteria|pathogens
    CONDITION ~2 TREAT_NOUN
    TREAT_NOUN ~1 for|of|from|against|fur|para|contra|pour|contre|gegen|del|du|de ~4 CONDITION|AILMENT
    pain|stress|wound|injury|headache|depression|symptom|scar relief|healing|treatment|remedy|cure
    CONDITION|AILMENT ~3 is|are|be|gets|was|were|been|being ~2 treated|cured|healed|reversed|prevented|eliminated|relieved
    good|great|best|effective|helpful|works|work|useful|ideal|perfect|indicated|used|beneficial ~2 for|against|in|with|gegen ~4 CONDITION
    works|effective ~1 against|for ~3 AILMENT
    help|helps|helping|helped ~2 with|your|against|people ~4 CONDITION
    helps|help ~2 with ~3 pain|depression|headaches
    say|said|saying goodbye to ~3 CONDITION|AILMENT
    goodbye|bye to|CONDITION|AILMENT ~2 CONDITION|pain|aches
    rid of ~3 CONDITION|pain|headaches
    anti cancer|tumor|tumour|inflammatory|diabetic|anxiety|depressant|viral
    anticancer|antitumor|antidiabetic|antiinflammatory|antidepressant|anxiolytic|antihypertensive
    protects|protect|protection ~1 against|from ~3 CONDITION
    recover|recovers|recovery|suffering|suffer ~1 from ~3 CONDITION
    !no more ~1 CONDITION|pain|headaches|depression
    !never suffer ~2 CONDITION|AILMENT
    CONDITION fighting|free|killing|fighter
    kiss ~3 CONDITION|AILMENT ~1 goodbye
    CONDITION|pain melts|melt|fades|vanishes|disappears|gone ~1 away|fast|in|for
    pain free ~1 in|within|fast|again|life|days
    TREAT ~3 heart attack|attacks|failure
    treats|cures|prevents|prevent|treat|cure ~2 colds|hangovers|cold
    TREAT|stops|stop|EASE ~2 hair loss
    heal|heals|cure|cures you
    heals|cures ~1 your ~1 body|mind
    treats|cures|heals|treat|cure ~2 everything|anything|all
    cure|remedy for|fur everything|anything|all
    hilft|ayuda|aide ~2 gegen|contra|contre|bei ~3 CONDITION|AILMENT
    gegen|contra|contre krebs|diabetes|cancer`,
  human_use: `
    FIT ~2 HUMAN ~1 USE_NOUN
    FIT ~1 HUMAN ~1 or|and ~3 USE_NOUN
    human|people consumption|ingestion|injection|dosing
    safe ~1 for|in|to|with ~2 human|humans|patients
    safe|ready|easy to INJECT|ingest|swallow|consume|inject
    safe|suitable|intended|approved for INJECTION|ingestion|consumption
    INGEST ~2 ROUTE
    INGEST by|per mouth
    INGEST ~3 on an empty stomach
    take|takes|taken|taking ~2 with|before|after ~1 food|meals|breakfast|dinner
    take|taking ~2 before|at|after bed|bedtime|workout|workouts|training
    take|taking ~3 SUBSTANCE
    take|taking|consume|ingest|administer|drink ~3 COMPOUND|vial|vials|dose|doses|solution|compound|serum|powder|tincture
    drink|drinks|drinking ~2 vial|ampoule|peptide
    mix ~5 and drink ~3 daily|peptide|compound|vial
    swallow|swallowing|ingest|consume ~2 whole|daily|capsule|capsules|product|it|one|two|this
    INJECT ~3 yourself|daily|weekly|it|vial|dose|ROUTE|COMPOUND|insulin|once|twice|solution|nightly
    INJECT ~3 into|in|under|near ~2 INTO
    INJECT ~1 NUM ~1 MASS|VOLUME
    self inject|injection|injecting|administer|administration|administered
    selfinject|selfinjects|selfinjecting|selfinjection|selfinjections
    ROUTE INJECTION|administration|use
    injectable|injectables COMPOUND|product|products|solution
    INJECTION ~2 site|sites ~2 rotate|rotation
    rotate ~2 injection|injections
    injection guide|instructions|protocol|kit|technique
    how to inject|ingest|reconstitute
    insulin syringe|syringes|pen|pens
    APPLY ~4 SKIN
    APPLY ~2 topically
    APPLY ~8 affected area|areas|joint
    place|put|hold|drops ~3 under ~1 tongue
    sublingually|intranasally|transdermally|subcutaneously|intramuscularly
    snort|vape|smoke|inhale ~2 COMPOUND|powder|it|this
    oral|injectable dosing|dose|dosage|use
    hormone|testosterone|peptide|hrt replacement|therapy
    HUMAN grade ~1 COMPOUND|peptide
    for|fur ~2 menschlichen ~1 verzehr|gebrauch
    fur zum ~1 verzehr
    para|apto ~2 consumo|uso humano
    para ~1 consumo ~1 humano
    pour ~2 consommation|usage humaine|humain
    your body ~1 will|can absorb|absorbs
    use it ~1 on yourself
    USE_NOUN|safe by|in|for humans|patients`,
  dosage: `
    NUM ~1 MASS ~2 PER ~1 DAY
    NUM ~1 MASS ~2 EVERY|TIMES
    NUM ~1 MASS DAY
    NUM ~1 MASS ~4 PER ~1 kg ~1 body|bodyweight
    TIMES|EVERY ~2 NUM ~1 MASS
    SMALL ~1 PIECE ~2 PER ~1 DAY
    SMALL ~1 PIECE ~1 EVERY|TIMES
    SMALL ~1 PIECE ~1 SMALL times
    INGEST|INJECT|administer|start|begin|dose|dosing ~3 NUM ~1 MASS
    INJECT|drink|swallow|ingest ~3 NUM ~1 VOLUME
    take|takes|taking ~2 NUM ~1 VOLUME ~4 DAY|EVERY|TIMES
    INGEST|INJECT ~3 NUM ~1 PIECE
    INGEST|INJECT ~3 once|twice|thrice ~1 daily|weekly|a|per|each|every
    INGEST|INJECT ~2 it|one|two|this|NUM ~1 daily|weekly|nightly
    DOSE ~3 NUM ~1 MASS|VOLUME|PIECE
    NUM ~1 MASS ~1 DOSE
    recommended|suggested|typical|optimal|starting|maintenance|loading|therapeutic|human|daily|weekly|effective|standard|ideal dosage|dosages|dosing
    recommended|suggested|typical|optimal|starting|maintenance|loading|therapeutic|human|effective|ideal dose|doses
    daily|weekly dose|doses ~1 is|of|for NUM
    once|twice|thrice|SMALL ~1 daily|weekly|nightly dosing|dose|doses|injection|injections|shots
    EVERY INJECTION|dosing
    dosing|dosage schedule|protocol|guide|instructions|cycle|chart|calculator|regimen|guidelines|recommendations
    dose|dosage for|per ~1 adults|humans|men|women|beginners|patients|bodyweight
    increase|decrease|titrate|double|adjust ~2 dose|dosage
    microdose|microdosing|megadose
    titrate ~3 MASS|NUM
    NUM week|weeks|day|month cycle|cycles|protocol
    NUM weeks on ~1 NUM weeks off
    weeks|days on NUM weeks|days off
    cycle ~2 for|of NUM ~1 weeks
    run ~2 cycle ~2 of|for ~2 COMPOUND|NUM
    post cycle therapy
    cycle|stack ~1 with|of COMPOUND
    NUM MASS|VOLUME taglich|diario|quotidien|diarios
    NUM ~1 MASS ~1 pro|al|por|par tag|dia|jour`,
  approval_claim: `
    AGENCY ~1 APPROVED
    AGENCY ~2 has|have|fully|officially ~1 APPROVED
    APPROVED ~1 by|with|von|por|par ~3 AGENCY
    approval from|by ~1 AGENCY
    health canada ~1 APPROVED
    APPROVED ~1 by|with ~1 health canada
    APPROVED ~1 by ~2 food ~1 drug administration
    food ~1 drug administration ~1 APPROVED
    european medicines agency ~1 APPROVED
    APPROVED ~1 by ~1 european medicines
    CLINICIAN ~1 RECOMMENDED
    RECOMMENDED ~1 by|von|por|par ~3 CLINICIAN
    CLINICIAN ~2 strongly|all|everywhere|often|widely|also recommend|prescribe|endorse
    prescription strength|grade|quality
    medically|clinically|doctor approved|endorsed|recommended
    government|federally APPROVED
    approved ~1 for ~2 HUMAN|medical|clinical use
    approved medicine|medication|drug|treatment
    von ~2 AGENCY APPROVED
    AGENCY ~1 zugelassen`,
  body_outcome: `
    LOSE ~3 WEIGHT
    LOSE ~2 FAT
    lose|shed|losing|loses|sheds|abnehmen|perdre|perdez ~4 POUNDS
    BURN|reduce|reduces ~2 FAT
    weight|fat loss
    weightloss|fatloss
    FAT burner|burners|burning|reduction|removal|melting
    gewicht verlieren|abnehmen
    perder ~1 peso
    pierde|pierda ~1 peso
    perte de poids
    perdida de peso
    slimming|slim ~2 down|fast|effect|body|waist
    appetite|hunger|craving|cravings suppression|suppressant|suppressor|control
    suppresses|suppress|curbs|curb|kills|controls ~2 appetite|hunger|cravings
    GAIN|BOOST ~3 muscle|muscles|strength
    GAIN|BOOST ~2 lean|muscle|bone mass|density
    muscle growth|gain|gains|building|mass|hypertrophy|recovery|repair|definition
    muskelaufbau|muskelwachstum
    crecimiento muscular
    bigger|stronger ~1 muscles|muscle
    anti aging|ageing|age
    antiaging|antiageing|antiedad
    BOOST|reverse|reverses|slow|slows|stop|stops|turns|defies|defy|fight|fights ~2 aging|ageing|age
    reverses|reverse ~2 signs of aging|ageing
    look|feel|looking|feeling ~1 NUM ~1 AGE younger
    look|feel|looking|feeling ~1 AGE younger
    younger looking|skin|you
    erases|erase|reduces|reduce|smooths|fades|removes|eliminates|fewer ~1 fine|facial|wrinkles ~2 lines|wrinkles|face
    BOOST ~3 VITAL
    BOOST ~2 sex|sexual drive|performance|stamina|desire|function
    BOOST ~2 growth hormone
    BOOST ~2 brain|cognitive|immune|gut|liver|heart|sexual|joint|bone|prostate|skin function|health|system
    libido booster|enhancer|enhancement|boost
    harder|stronger|better|longer ~1 erections
    testosterone booster|boost
    promote|promotes|improves|improve|enhances|induces|restores|boosts|deepens ~2 sleep
    fall|falling asleep ~1 faster|quicker|quickly|sooner|instantly
    helps|help you|me ~1 sleep
    deep|deeper|restful|better sleep ~1 guaranteed|every|tonight|for
    sleep better|deeper|faster ~2 with|guaranteed|thanks|after
    FAST ~2 healing|regeneration
    FAST|faster ~2 muscle|injury|workout|tissue|wound recovery|repair|healing
    recover|recovers|heal|heals|healing ~2 faster|quicker|quickly|rapidly|overnight
    wound|tissue|tendon|joint|ligament|injury|gut healing|repair|regeneration
    heals|heal|repairs|regenerates|repair ~2 tissue|tendon|tendons|ligaments|joints|cartilage|gut|skin|nerves
    hair regrowth|growth|restoration
    regrow|regrows|grow|grows ~2 hair
    clear|clears|clearer|glowing|radiant|flawless|tighter|tightens ~1 skin
    increase|increases|boost|boosts|improve|improves ~2 endurance|stamina|vitality|vigor
    burn ~2 calories
    get|gets|getting ripped|shredded|jacked|lean ~1 fast|quick|in|with
    six pack abs
    flat|flatter belly|stomach|tummy
    speeds|boosts|accelerates|revs|increases ~2 metabolism`,
  testimonial: `
    SELF ~3 lost|dropped|shed ~4 POUNDS|WEIGHT|FAT
    SELF ~3 gained|built|added|put ~3 muscle|POUNDS|strength
    my ~3 CONDITION|AILMENT ~4 GONE
    my ~2 tumor|tumors|bloodwork|hair|wrinkles|libido|knee|knees|back|shoulder|tendon|testosterone ~3 gone|healed|cured|improved|disappeared|recovered|grew|vanished|returned|doubled
    cured|healed|fixed|reversed|relieved|eliminated|helped|helps|cleared|saved ~1 my|me|us ~4 CONDITION|AILMENT|knee|back|shoulder|elbow|weight|skin|sleep|tendon
    cured|healed ~1 me|us|my
    SELF ~3 cured|healed|reversed|beat ~3 CONDITION|AILMENT|naturally|completely
    SELF ~2 was|were|am|been|got ~1 cured|healed
    SELF ~2 FELT ~2 younger|stronger|healthier|leaner|better after|since|on|from|within|with
    SELF ~2 FELT ~1 AGE younger
    SELF ~2 feel|look|felt ~1 NUM ~1 years younger
    SELF ~2 sleep|sleeping|slept ~2 better|deeper|through ~2 after|since|on|with|now|than|the
    SELF ~3 inject|injected|injecting
    SELF ~3 take|took|taking|taken|used|using|tried ~4 COMPOUND|MASS|capsule|capsules|pill|pills|vial|vials
    SELF ~2 recovered ~3 from|in|injury|faster
    after ~2 NUM weeks|days|months ~3 my|i ~3 gone|pain|lost|weight|muscle|healed|CONDITION
    my doctor|doctors ~3 amazed|shocked|stunned|surprised|impressed|recommended|prescribed|believe
    !SELF no longer ~2 have|need|suffer|feel|take ~3 CONDITION|AILMENT|medication|insulin
    !my pain|symptoms ~1 free
    SELF ~1 am|im pain free
    ich ~2 habe ~3 abgenommen
    SELF ~2 kilo|kilos|kg ~1 abgenommen|verloren
    he perdido|bajado ~3 POUNDS|peso
    jai perdu ~3 POUNDS|poids
    mein|meine ~2 schmerzen|CONDITION ~3 weg|verschwunden|geheilt
    mi ~2 dolor|CONDITION ~3 desaparecio|curo
    ma|mes ~2 douleur|douleurs|CONDITION ~3 disparu|disparues`,
  product_identity: `
    dietary|food|nutritional|health|herbal supplement|supplements
    nahrungserganzungsmittel
    PRODUCT_NAME
    pharmaceutical|pharma grade`,
  efficacy_hype: `
    PROVEN proven|tested|validated
    proven to work|results
    guaranteed results|effective|success
    results ~1 guaranteed
    !no|without|zero|free ~2 side effects
    MIRACLE
    wonder drug|cure
    percent|100 effective|safe
    completely|totally|perfectly safe
    proven safe|effective|efficacy`,
  neutral: `
    cured|cure|cures|curing|cured ~1 concrete|resin|epoxy|paint|meat|ham|bacon|sausage|salami|rubber|leather|tobacco|adhesive|coating|ink|fish|salmon|olives|cheese|glue|polish|time|oven|lamp|agent|hides|varnish
    uv|air|dry|salt|sun|smoke|fully|heat|cold|slow|light|moisture|oven|resin|concrete|epoxy|paint cure|cures|cured|curing
    treat|treats|treating yourself|someone|friends|family|mum|mom|dad|loved|them|her|him|box|boxes|jar|pack|bag|for|it|like
    dog|cat|sweet|pet|tasty|special|little|birthday|holiday|festive|chocolate|puppy|puppies|chewy|crunchy treat|treats
    trick or treat
    treat ~1 wood|leather|timber|stains|stain|surface|surfaces|fabric|water|garment|boots|metal|deck|fence|customers|staff|people|everyone|suppliers|workers
    heat|surface|water|window|wood|acid|wall|sample|thermal|chemical|plasma|enzyme|pressure|wastewater|fabric|leather|royal|equal|fair|tax|wax|data treatment|treatments|treated|treat|treating
    treated timber|wood|lumber|leather|fabric|water|glass|steel|paper|surface|cotton
    treatment ~1 of|for wood|leather|metal|water|wastewater|fabric|surfaces|samples|cells|data
    reverse|reversed|reversing engineering|charge|osmosis|side|gear|camera|phase|order|engineer|engineered|stitch|transcriptase|transcription|lookup|proxy|applique|seam
    prevent|prevents|preventing|prevented ~3 rust|corrosion|leaks|leak|damage|scratches|theft|fraud|slipping|spills|mould|fading|errors|loss|waste|chafing|tangling|limescale|contamination|evaporation|overheating|splinters
    heal brush|tool
    healing brush|tool|crystals|crystal
    self healing ~1 mat|cutting|rubber|coating|polymer|screen|network|cluster|film|paint
    dose response
    dose|dosing|dosage pump|pumps|valve|valves|spoon|cup|bottle|unit|system|head|rate|chamber|syringe|meter|equipment|controller
    radiation|detergent|uv|light|fertiliser|fertilizer|chlorine|espresso|coffee|ground|healthy|double dose|doses|dosing|dosage|dosed
    dose of inspiration|fun|sunshine|humour|humor|caffeine|style|news|colour|color|nature|adventure|nostalgia|joy|culture|reality|luxury|charm|wanderlust|creativity|motivation|calm
    muscle car|cars|tee|tees|tank|shirt|memory
    muscle fit
    weight|weights plate|plates|bench|rack|limit|class|set|capacity|stack
    paper|fabric|yarn|lead|fishing weight
    hair growth|cycle ~1 study|assay
    sleep mode|timer|mask|sack|bag|bags|tracker|number|function|shirt|suit|shirts|over
    drug free|store|stores|discovery|development|screening|testing|design|delivery|lord|interactions
    drug ~1 alcohol
    anti drug|doping
    retail|aroma|art|speech|music|pet|sound|therapy|light therapy
    therapy dog|dogs|ball
    home remedy
    legal|equitable remedy|remedies
    remedies|remedy ~2 breach|law|contract|default|consumer
    medicine ball|balls|cabinet|hat|books|journal|history
    history|school|faculty|nobel|journal|students|textbook|books|veterinary ~2 medicine
    pharmaceutical industry|companies|company|analysis|chemistry|research|engineering|sciences|packaging|waste
    fuel|mould|mold|molding|sample|dependency|sql|ink|column|plastic|die|code|steam|water|foam|resin|script injection|injections|injected|injector|inject|injecting
    injection moulding|molding|moulded|molded|mould|volume|port|valve|pump|loop|needle|attack|attacks|system|speed|attacks
    water for injection
    inject ~2 colour|color|fun|life|style|energy|personality|humour|humor|code|samples|sample|character|glamour|brightness|resin|foam|grease|sealant|dependencies
    shot|shots ~1 of|glass|glasses espresso
    espresso|coffee|photo|tequila|vodka|whisky shot|shots
    stress ~1 test|tests|testing|tested|relief ~1 strap|cable
    stress|strain relief boot|strap|cable|clamp|connector|bushing
    metal|material|alert|alarm|listener|eye fatigue
    computer|malware|email|network|usb|ransomware virus|viruses|infection|infections
    antivirus|firewall
    cold brew|drink|drinks|weather|chain|press|pressed|water|storage|start|snap|days|winter|mornings|room|nights|spot|brews|rolled|frame|air|hands
    pain ~1 points|point|au
    pain au chocolat
    headache ~1 out|free
    stroke engine|width|length|weight
    four|two|brush|stroke|keyboard|backstroke|pen strokes|stroke
    hearing|band|first|kitchen|lemon|visual|teaching|cool|legal|study aids|aid
    tropic|economic|great|tropical|basin|market depression
    customs|border clearance
    clearance sale|items|rack|section
    registered office|company|charity|trademark|trade|mail|post|design|users|user|address
    burns ~1 clean|cleanly|evenly|slowly|hours|longer
    burn time|hours
    cancer research|charity|charities|awareness|society|support|biology|ward|zodiac|horoscope|sign|foundation|council|trust|star
    tropic of cancer
    cancer cell line|lines|culture
    inflammation|inflammatory|cancer|tumor|disease|diabetes|infection|obesity|insulin assay|model|models|marker|markers|biomarker|biomarkers|research|signalling|signaling|pathway|pathways|elisa
    donate|donated|donation|donations|proceeds|fundraiser|raise|raised|raises|raising ~6 cancer|diabetes|charity|dementia|alzheimers|parkinsons|heart
    gun|gift|apply ~1 stickers|decal|decals|patch|transfer|sticker|glitter
    face value|mask|plate|paint|towel|frame|side|timber
    apply ~2 coupon|code|discount|filter|filters|paint|coat|primer|glue|pressure|heat|wax|polish|varnish|sealant
    weight ~1 loss ~2 drying|ignition|evaporation
    blood|carbon dating|orange|oranges|moon
    body ~1 wash|warmer|kit
    bottle|water|bath|ageing|aging ~1 room|barrel|rum|wine|whisky|cheese|cellar
    oak|wine|cheese|barrel|accelerated|whisky|heat aging|ageing
    disease|diseases ~1 resistant|resistance|free
    plant|crop|tomato|potato|rose|leaf|fungal|tree|dutch|root|bee|fish ~1 disease|diseases|infection|infections
    potato|tomato|leaf blight|blights
    compulsive|personality|out|tidy disorder
    no strokes`,
  notice: `
    !research use only
    !research purposes only
    !laboratory|lab|research ~2 use|purposes only
    !only for ~2 research|laboratory
    !not ~3 human|humans ~3 consumption|use
    !for research use
    !nur ~2 forschung|forschungszwecke
    !uso en investigacion
    !usage de recherche`,
}

/** Names the rules that judged a text: it changes with any word of them. */
export const RULES_VERSION = createHash('sha256')
  .update(JSON.stringify([PHRASES, WORDS, GRAMMAR, VERB_CLASSES, [...CONFUSABLES]]))
  .digest('hex')
  .slice(0, 16)
