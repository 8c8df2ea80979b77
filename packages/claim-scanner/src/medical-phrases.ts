/** Phrases about illness, use on people and doses, in the notation of rules.ts. */
export const MEDICAL = {
  disease_claim: `
    TREAT ~7 CONDITION
    EASE ~4 CONDITION
    MEND ~3 AILMENT
    relieve|relieves|relieving|reduces|reduce|ease|eases|stops|stop|kills|fights|soothe ~1 BODY_PART ~1 AILMENT
    relieve|relieves|reduces|reduce|stops|kills|fights|ends|eliminates ~1 pain
    reduces|reduce|eliminates ~1 swelling
    lowers|lower|reduces|reduce|regulates|regulate|balances|balance|stabilizes|controls ~2 blood pressure|sugar|glucose
    kills|kill|destroys|fights ~3 cancer|tumor|tumour|pathogens
    CONDITION ~2 TREAT_NOUN
    TREAT_NOUN ~1 for|of|from|against ~4 CONDITION|AILMENT
    pain|stress|wound|injury|headache|depression|symptom|scar relief|healing|treatment|remedy|cure
    CONDITION|AILMENT ~3 is|are|be|gets|was|were|been|being ~2 treated|cured|healed|reversed|prevented|eliminated|relieved
    good|great|best|effective|helpful|works|work|useful|ideal|perfect|indicated|used|beneficial ~2 for|against|in|with ~4 CONDITION
    works|effective ~1 against|for ~3 AILMENT
    works|work|worked ~1 on|wonders ~3 CONDITION
    keep|keeps|keeping ~2 blood pressure|sugar|glucose
    keep|keeps|keeping ~1 CONDITION ~1 away|bay|check|out
    knock|knocks|knocked out ~2 CONDITION|AILMENT
    take|takes|took|taking ~1 pain|ache|aches ~1 out|away
    took|takes|take away ~1 pain|aches|ache
    say|wave|bid ~1 goodbye|farewell ~1 to ~3 CONDITION|AILMENT
    ward|wards|stave|staves|fend|fends|fight|fights off ~2 CONDITION|AILMENT
    guard|guards|shield|shields|protect|protects ~1 against|from ~2 heart attack|attacks|failure|disease
    guard|guards|shield|shields ~1 against|from ~2 CONDITION
    bring|brings|brought ~1 down ~2 blood|cholesterol ~1 pressure|sugar|glucose|levels
    bring|brings ~2 cholesterol|glucose ~1 down
    blood|cholesterol ~3 under control
    breakthrough|solution|answer for|to|against ~3 CONDITION
    !no more ~1 joint|back|muscle|knee stiffness|pain|aches|soreness
    wipe|wipes|wiped|wiping out ~3 CONDITION|AILMENT
    beat|beats|beating|fight|fights|stop|stops|defeat|defeats ~2 depression|headaches|fatigue|burnout
    prescribe|prescribes|prescribed|prescribing ~2 for ~3 CONDITION|AILMENT
    put|puts|putting ~1 end to ~4 CONDITION|AILMENT
    help|helps|helping|helped ~2 with|your|against|people ~4 CONDITION
    helps|help ~2 with ~3 pain|depression|headaches
    say|said|saying goodbye to ~3 CONDITION|AILMENT
    goodbye|bye to|CONDITION|AILMENT ~2 CONDITION|pain|aches
    rid of ~3 CONDITION|pain|headaches
    anti cancer|tumor|tumour|inflammatory|diabetic|anxiety|depressant|viral
    antianxiety|anticancer|antitumor|antidiabetic|antiinflammatory|antidepressant|anxiolytic|antihypertensive
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
    cure|remedy for everything|anything|all`,
  human_use: `
    FIT ~2 HUMAN ~1 USE_NOUN
    FIT ~1 HUMAN ~1 or|and ~3 USE_NOUN
    human|people consumption|ingestion|injection|dosing
    safe ~1 for|in|to|with ~2 human|humans|patients
    safe|ready|easy to INJECT|ingest|swallow|consume|inject
    COMPOUND for|in humans|people|athletes|bodybuilders|patients
    safe to use|try ~1 on|for|in people|humans|patients
    safely INJECT|ingest|consume|swallow
    ideal|perfect|great|good|best|ready for INJECT|injection|injections|ingestion|selfinjection
    use|used ~2 nasal spray
    swallow with|one|two
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
    pinch ~2 skin ~3 INJECT
    sprays|spray|drops|puffs in|into|per|up ~1 nostril|nostrils
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
    SMALL ~1 PIECE in|at ~1 morning|night|evening
    SMALL ~1 scoop|scoops ~1 PER ~1 DAY ~1 before|with|after
    SMALL ~1 PIECE ~1 SMALL times
    INGEST|INJECT|administer|start|begin|dose|dosing ~3 NUM ~1 MASS
    INJECT|drink|swallow|ingest ~3 NUM ~1 VOLUME
    take|takes|taking ~2 NUM ~1 VOLUME ~4 DAY|EVERY|TIMES
    INGEST|INJECT ~3 NUM ~1 PIECE
    INJECT|take|takes|taking ~2 NUM times ~1 DAY|EVERY|PER
    SMALL ~1 ml|cc|mls EVERY|TIMES
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
    NUM week|weeks|month cycle|cycles|protocol
    NUM weeks on ~1 NUM weeks off
    weeks|days on NUM weeks|days off
    cycle ~2 for|of NUM ~1 weeks
    run ~2 cycle ~2 of|for ~2 COMPOUND|NUM
    post cycle therapy
    cycle|stack ~1 with|of COMPOUND`,
} as const
