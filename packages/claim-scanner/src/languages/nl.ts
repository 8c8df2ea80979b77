import type { Language } from './language.ts'

export const DUTCH: Language = {
  code: 'nl',
  script: 'latin',
  isDeep: false,
  words: {
    TREAT: `geneest genezen behandelt behandelen voorkomt voorkomen bestrijdt bestrijden cureert
      voorkom`,
    EASE: 'verlicht verlichten vermindert stopt verdrijft verzacht elimineert helpt',
    TREATED: 'genezen behandelen bestrijden voorkomen verlichten genezing',
    REMEDY: 'behandeling remedie middel geneesmiddel genezing therapie',
    AGAINST: 'tegen',
    CONDITION: `kanker kankercel* tumor tumoren diabetes suikerziekte artritis artrose reuma depressie
      depressies angststoornis* hypertensie slapeloosheid ontsteking ontstekingen cholesterol migraine
      alzheimer parkinson dementie astma eczeem psoriasis acne hartinfarct hartaanval beroerte
      osteoporose griep jicht obesitas impotentie hepatitis herpes ziekte ziekten ziektes hartziekte*
      allergieën haaruitval`,
    AILMENT: `pijn pijnen rugpijn gewrichtspijn* hoofdpijn spierpijn kniepijn zenuwpijn nekpijn
      buikpijn klachten`,
    LOWER: 'verlaagt verlagen reguleert',
    LOWERED: 'verlagen',
    LEVEL: 'bloeddruk bloedsuiker bloedsuikerspiegel cholesterol cholesterolgehalte',
    FIT: 'geschikt voor veilig',
    HUMAN: 'menselijke menselijk mensen',
    USE: 'consumptie gebruik',
    TAKE: 'neem nemen slik slikken inname',
    INJECT: 'injecteer injecteren injectie spuit',
    SKIN: 'huid buik',
    NUM: 'een één twee drie vier vijf zes',
    PIECE: 'capsule capsules tablet tabletten pil pillen druppels dosis',
    DAILY: 'dagelijks wekelijks',
    PER: 'per elke voor',
    DAY: 'dag week avond ochtend',
    AGENCY: 'cbg',
    APPROVED: 'goedgekeurd goedkeuring geregistreerd',
    DOCTOR: 'arts artsen dokter dokters apothekers huisartsen',
    RECOMMENDED: 'aanbevolen aangeraden voorgeschreven',
    LOSE: 'verlies verliezen',
    WEIGHT: 'gewicht',
    LOST: 'verliezen kwijtraken',
    SLIM: 'afvallen gewichtsverlies vetverbrander vetverbranding spiergroei antirimpel',
    BURN: 'verbrandt verbranden',
    FAT: 'vet buikvet lichaamsvet',
    BURNED: 'verbranden',
    GROW: 'bouwt kweek',
    MUSCLE: 'spieren spiermassa',
    GROWN: 'opbouwen kweken groeien',
    BOOST: 'verhoogt verbetert stimuleert versterkt versnelt',
    VITAL: 'libido testosteron stofwisseling immuunsysteem erectie nachtrust',
    YOUNG: 'huidveroudering',
    SELF: 'ik',
    LOST_WEIGHT: 'afgevallen kwijt kwijtgeraakt',
    KILOS: 'kilo kilos kg pond',
    MY: 'mijn',
    GONE: 'weg verdwenen genezen',
  },
  grammar: {
    NOT: 'niet nooit',
    NO: 'geen',
    LACKING: 'zonder',
    TAKEN_BACK: 'alleen slechts',
    CONTRAST: 'maar echter',
    AND: 'en',
    COPULA: 'wordt zijn',
    FORBIDDEN: 'verboden',
    PERMITTED: 'toegestaan bedoeld',
  },
  phrases: {
    body_outcome: `
      val ~2 af ~3 zonder|honger|kilo
      anti veroudering|rimpel`,
    human_use: `
      INJECT ~4 onder ~1 huid`,
    neutral: `
      gewichtsverlies ~2 verpakking|doos|product
      behandelt|behandelen ~2 hout|leer|metaal
      wondgenezing ~1 bij muizen|ratten`,
    notice: `
      !alleen ~2 onderzoek|onderzoeksdoeleinden`,
  },
}
