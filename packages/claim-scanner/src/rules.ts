import { createHash } from 'node:crypto'
import { CONFUSABLES } from './confusables.ts'
import type { RuleId } from './findings.ts'
import { LANGUAGE_PHRASES } from './language-phrases.ts'
import { LANGUAGES } from './languages/all.ts'
import { MEDICAL } from './medical-phrases.ts'
import { ILLNESS_NAMED, LABORATORY, LITERATURE, NEUTRAL } from './neutral-phrases.ts'
import { GRAMMAR, ORDINARY_WORDS, VERB_CLASSES, WORDS } from './word-classes.ts'

/** What the words beside a claim are about: contexts.ts. */
type ContextOwner = 'laboratory' | 'literature' | 'illness_named'

/**
 * Phrases by rule. A phrase is a sequence of steps; a step is a class of word-classes.ts (upper
 * case), a word, or several with a bar between. `~3` allows up to three other words before the next
 * step. No phrase crosses the end of a sentence. A phrase with a leading `!` matches denied words
 * too.
 */
export type PhraseOwner = RuleId | 'neutral' | 'notice' | ContextOwner

export const PHRASES: Readonly<Partial<Record<PhraseOwner, string>>> = {
  ...MEDICAL,
  approval_claim: `
    AGENCY ~1 APPROVED
    AGENCY ~2 has|have|fully|officially ~1 APPROVED
    APPROVED ~1 by|with ~3 AGENCY
    approval from|by ~1 AGENCY
    health canada ~1 APPROVED
    APPROVED ~1 by|with ~1 health canada
    APPROVED ~1 by ~2 food ~1 drug administration
    food ~1 drug administration ~1 APPROVED
    european medicines agency ~1 APPROVED
    APPROVED ~1 by ~1 european medicines
    CLINICIAN ~1 RECOMMENDED
    RECOMMENDED ~1 by ~3 CLINICIAN
    CLINICIAN trust|love|swear
    CLINICIAN ~2 strongly|all|everywhere|often|widely|also recommend|prescribe|endorse
    CLINICIAN ~2 prescribe|prescribes|prescribing|recommending ~3 for|it|this
    prescription strength|grade|quality
    medically|clinically|doctor approved|endorsed|recommended
    government|federally APPROVED
    approved ~1 for ~2 HUMAN|medical|clinical use
    approved medicine|medication|drug|treatment`,
  body_outcome: `
    LOSE ~3 WEIGHT
    LOSE ~2 FAT
    lose|shed|losing|loses|sheds ~4 POUNDS
    BURN|reduce|reduces ~2 FAT
    weight|fat loss
    weightloss|fatloss
    FAT burner|burners|burning|reduction|removal|melting
    slimming|slim ~2 down|fast|effect|body|waist
    appetite|hunger|craving|cravings suppression|suppressant|suppressor|control
    suppresses|suppress|curbs|curb|kills|controls ~2 appetite|hunger|cravings
    GAIN|BOOST ~3 muscle|muscles
    gain|gains|gaining ~1 strength
    GAIN|BOOST ~2 lean|muscle|bone mass|density
    muscle growth|gain|gains|building|mass|hypertrophy|recovery|repair|definition
    bigger|stronger ~1 muscles|muscle
    anti aging|ageing|age
    antiaging|antiageing
    reverse|reverses|slow|slows|stop|stops|turns|defies|defy|fight|fights ~2 aging|ageing|age
    reverses|reverse ~2 signs of aging|ageing
    look|feel|looking|feeling ~1 NUM ~1 AGE younger
    look|feel|looking|feeling ~1 AGE younger
    younger looking|skin|you
    look|looks|looking|feel younger
    clock ~1 on aging|ageing
    last|lasts longer in bed
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
    recovery from ~2 injury|injuries|surgery|illness
    FAST|faster ~2 muscle|injury|workout|tissue|wound recovery|repair|healing
    recover|recovers|heal|heals|healing ~2 faster|quicker|quickly|rapidly|overnight
    wound|tissue|tendon|joint|ligament|injury|gut healing|repair|regeneration
    heals|heal|repairs|regenerates|repair ~2 tissue|tendon|tendons|ligaments|joints|cartilage|gut|skin|nerves
    hair regrowth|growth|restoration
    regrow|regrows|grow|grows ~2 hair
    clear|clears|clearer|glowing|radiant|flawless|tighter|tightens ~1 skin
    increase|increases|boost|boosts|improve|improves ~3 endurance|stamina|vitality|vigor
    burn ~2 calories
    drop|drops|lose|loses ~2 dress|clothing size|sizes
    wake|wakes|awakens|ignite|ignites|revive|revives ~2 libido|metabolism
    turn|turns|turning back ~1 years|time|clock ~3 skin|aging|ageing|face|body
    restore|restores|restoring ~2 youth|youthful
    sleep|sleeping like ~1 baby
    cut|cuts|halve|halves ~1 recovery time
    speed|speeds|speeding ~1 recovery
    torch|torches|burns ~1 calories
    shrink|shrinks ~3 gut|belly
    your ~1 joints|knees|back ~3 feel|feels ~1 new|young|younger
    bounce|bounces ~1 back ~2 injury|injuries|illness|surgery
    hair ~1 grow|grows|growing back
    BURN|shrink|shrinks|shrinking|trim|trims|slim|slims ~4 waist|waistline|hips|thighs|tummy
    rebuild|rebuilds|regrow|regrows ~2 cartilage|bone|tissue|tendons|muscle
    get|gets|getting ripped|shredded|jacked|lean ~1 fast|quick|in|with
    six pack abs
    flat|flatter belly|stomach|tummy
    speeds|boosts|accelerates|revs|increases ~2 metabolism`,
  testimonial: `
    SELF ~3 lost|dropped|shed ~4 POUNDS|WEIGHT|FAT
    SELF ~3 lost|dropped ~3 sizes|inches
    stop|stopped|quit taking ~2 insulin|medication|medications|meds
    SELF ~3 gained|built|added|put ~3 muscle|POUNDS|strength
    my ~3 CONDITION|AILMENT ~4 GONE
    my ~2 tumor|tumors|bloodwork|hair|wrinkles|libido|knee|knees|back|shoulder|tendon|testosterone ~3 gone|healed|cured|improved|disappeared|recovered|grew|vanished|returned|doubled
    cured|healed|fixed|reversed|relieved|eliminated|helped|helps|cleared|saved ~1 my|me|us ~4 CONDITION|AILMENT|knee|back|shoulder|elbow|weight|skin|sleep|tendon
    cured|healed me|us
    SELF ~3 cured|healed|reversed|beat ~3 CONDITION|AILMENT|naturally|completely
    SELF ~2 was|were|am|been|got ~1 cured|healed
    SELF ~2 FELT ~2 younger|stronger|healthier|leaner after|since|on|from|within|with
    SELF ~2 FELT ~2 better after|since|within
    SELF ~2 FELT ~1 AGE younger
    SELF ~2 feel|look|felt ~1 NUM ~1 years younger
    SELF ~2 sleep|sleeping|slept ~2 better|deeper|through ~2 after|since|now
    SELF ~3 inject|injected|injecting
    SELF ~3 take|took|taking|taken|used|using|tried ~4 COMPOUND|MASS|capsule|capsules|pill|pills|vial|vials
    SELF ~2 recovered ~3 from|in|injury|faster
    after ~2 NUM weeks|days|months ~3 my|i ~3 gone|pain|lost|weight|muscle|healed|CONDITION
    my doctor|doctors ~3 amazed|shocked|stunned|surprised|impressed|recommended|prescribed|believe
    !SELF no longer ~2 have|need|suffer|feel|take ~3 CONDITION|AILMENT|medication|insulin
    customers|users|testers|clients|members|patients ~1 lost|dropped|shed ~4 POUNDS
    my blood pressure|sugar ~3 normal|dropped|lower
    !my ~1 BODY_PART no longer hurts|hurt|aches
    SELF ~1 off ~1 meds|medication|medications|insulin|pills
    my ~1 wrinkles ~2 gone|faded|vanished|disappeared
    my ~2 BODY_PART|head ~1 stopped hurting|aching
    SELF ~2 threw|throw|ditched|binned ~5 pills|medication|medications|meds|insulin|tablets
    !my pain|symptoms ~1 free
    SELF ~1 am|im pain free`,
  product_identity: `
    dietary|food|nutritional|health|herbal supplement|supplements
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
  neutral: NEUTRAL,
  laboratory: LABORATORY,
  literature: LITERATURE,
  illness_named: ILLNESS_NAMED,
  notice: `
    !research use only
    !research purposes only
    !laboratory|lab|research ~2 use|purposes only
    !only for ~2 research|laboratory
    !not ~3 human|humans ~3 consumption|use
    !for research use`,
}

/** What `RULES_VERSION` must be: it changes with every word of the rules, which takes them all to know. */
export const hashRules = (): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        LANGUAGES,
        LANGUAGE_PHRASES,
        PHRASES,
        WORDS,
        GRAMMAR,
        VERB_CLASSES,
        ORDINARY_WORDS,
        [...CONFUSABLES],
      ]),
    )
    .digest('hex')
    .slice(0, 16)
