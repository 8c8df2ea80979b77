import type { Language } from './language.ts'

export const FRENCH: Language = {
  code: 'fr',
  script: 'latin',
  isDeep: true,
  words: {
    TREAT: `guérit guérir guérissent soigne soigner soignent traite traiter prévient prévenir combat
      combattre combattent`,
    EASE: 'soulage soulager soulagent réduit réduire élimine éliminer calme apaise disparaître',
    REMEDY: 'traitement remède soulagement médicament prévention',
    AGAINST: 'contre',
    CONDITION: `cancer cancers tumeur tumeurs maladie maladies arthrose arthrite diabète anxiété
      hypertension insomnie dépression inflammation inflammations cholestérol migraine migraines
      alzheimer parkinson démence asthme eczéma psoriasis acné infarctus ostéoporose grippe goutte
      obésité impuissance hépatite herpès cancéreuses cancéreux cancéreuse rhumatismes allergies`,
    AILMENT: 'douleur douleurs mal maux',
    LOWER: 'baisser baisse réduit réduire abaisse diminue régule',
    LEVEL: 'artérielle artériel glycémie cholestérol tension',
    FIT: 'pour convient propre adapté adaptée',
    HUMAN: 'humaine humain humains',
    USE: 'consommation usage utilisation',
    TAKE: 'prendre prenez avaler avalez',
    INJECT: 'injecter injectez',
    SKIN: 'peau ventre',
    NUM: 'un une deux trois quatre cinq six',
    PIECE: 'gélule gélules comprimé comprimés gouttes pilule pilules dose doses capsule capsules',
    DAILY: 'quotidien quotidienne quotidiennement',
    PER: 'par chaque',
    DAY: 'jour semaine soir matin',
    DOSE: 'posologie dose',
    AGENCY: 'afssaps ansm',
    APPROVED: 'approuvé approuvée autorisé autorisée homologué homologuée',
    DOCTOR: 'médecin médecins docteurs pharmaciens',
    RECOMMENDED: 'recommandé recommandée recommandent recommande prescrit',
    LOSE: 'perdre perdez',
    WEIGHT: 'poids',
    SLIM: 'maigrir maigrissez amincissant amaigrissant antirides',
    BURN: 'brûle brûler brûlent fait',
    FAT: 'graisse graisses',
    GROW: 'augmente augmenter développe',
    MUSCLE: 'musculaire muscles',
    BOOST: 'augmente booste améliore stimule renforce accélère',
    VITAL: 'libido testostérone métabolisme immunitaire érection sexuelle sommeil',
    SELF: 'je jai',
    LOST_WEIGHT: 'perdu maigri',
    KILOS: 'kilo kilos kg livres poids',
    MY: 'ma mes mon',
    GONE: 'disparu disparues disparus disparue guéri guérie',
  },
  grammar: {
    NOT: 'jamais pas ne nest',
    NO: 'aucun aucune',
    LACKING: 'sans',
    TAKEN_BACK: 'seulement',
    CONTRAST: 'mais',
    AND: 'et ou',
    PRONOUN: 'ce il elle',
    COPULA: 'est',
    FORBIDDEN: 'interdit interdite',
    PERMITTED: 'autorisé',
    GLUE: 'le',
    SUBJECT: 'de',
  },
  phrases: {
    disease_claim: `
      aide ~2 contre ~3 CONDITION|AILMENT
      réduit|baisse|abaisse|baisser ~2 pression artérielle`,
    body_outcome: `
      perte de poids
      anti âge|vieillissement|rides`,
    testimonial: `
      j ai perdu ~3 KILOS`,
    human_use: `
      INJECT ~4 sous ~1 peau`,
    neutral: `
      perte de poids ~3 emballage|colis|carton|produit|échantillon
      TREAT ~1 bois|cuir|métal|surface|surfaces
      EASE ~1 tension|bruit|stress
      mal de mer
      signe|tropique ~1 cancer`,
    notice: `
      !usage de recherche`,
  },
}
