import type { Language } from './language.ts'

export const GERMAN: Language = {
  code: 'de',
  script: 'latin',
  isDeep: true,
  words: {
    TREAT: `heilt heilen heile behandelt behandeln kuriert kurieren verhindert verhindern
      bekämpft bekämpfen besiegt vorbeugt beugt`,
    EASE: `lindert lindern reduziert mindert stoppt beseitigt hemmt schrumpfen`,
    TREATED: 'heilen heilt behandeln lindern geheilt bekämpfen besiegen schrumpfen vorbeugen',
    REMEDY: 'behandlung heilung heilmittel linderung mittel therapie vorbeugung medikament',
    AGAINST: 'gegen',
    CONDITION: `krebs krebszell* tumor tumore tumoren diabetes depression depressionen krankheit
      krankheiten erkrankung erkrankungen diabetiker arthrose arthritis bluthochdruck angststörung
      angststörungen schlaflosigkeit schlafstörung schlafstörungen entzündung entzündungen migräne
      rheuma alzheimer demenz parkinson asthma ekzem ekzeme neurodermitis schuppenflechte akne
      herzinfarkt schlaganfall osteoporose grippe gicht haarausfall allergie allergien
      impotenz osteoarthritis krampfadern hepatitis herpes`,
    AILMENT: `schmerz schmerzen rückenschmerz* gelenkschmerz* kopfschmerz* knieschmerz*
      muskelschmerz* nervenschmerz* zahnschmerz* bauchschmerz* beschwerden verspannung*`,
    LOWER: 'senkt senken reguliert normalisiert',
    LOWERED: 'senken senkt',
    LEVEL: 'blutdruck blutzucker blutzuckerspiegel cholesterin cholesterinspiegel cholesterinwert*',
    FIT: 'für zum zur geeignet',
    HUMAN: 'menschlichen menschlicher menschliche menschen',
    USE: 'verzehr gebrauch anwendung verwendung',
    TAKE: 'nehmen einnehmen nimm schlucken',
    INJECT: 'injizieren spritzen injiziere spritze',
    SKIN: 'haut bauch muskel',
    NUM: 'ein eine einen zwei drei vier fünf sechs',
    PIECE: 'kapsel kapseln tablette tabletten tropfen pille pillen dosis messlöffel',
    DAILY: 'täglich wöchentlich morgens abends',
    PER: 'pro am vor',
    DAY: 'tag woche schlafengehen',
    DOSE: 'dosierung dosis',
    AGENCY: 'bfarm',
    APPROVED: 'zugelassen genehmigt zulassung',
    DOCTOR: 'arzt ärzte ärzten ärztlich mediziner medizinern apotheker apothekern',
    RECOMMENDED: 'empfohlen empfehlen empfiehlt verschrieben',
    LOSE: 'verlieren verliere verlierst',
    WEIGHT: 'gewicht',
    LOST: 'verlieren abnehmen',
    SLIM: 'abnehmen gewichtsverlust gewichtsabnahme fettverbrennung fettverbrenner muskelaufbau muskelwachstum',
    BURN: 'verbrennt verbrennen schmilzt',
    FAT: 'fett bauchfett körperfett',
    BURNED: 'verbrennen schmelzen',
    GROW: 'baut steigert aufbauen',
    MUSCLE: 'muskeln muskelmasse muskulatur',
    GROWN: 'aufbauen wachsen',
    BOOST: 'steigert stärkt erhöht verbessert fördert kurbelt',
    VITAL: 'libido testosteron testosteronspiegel potenz immunsystem stoffwechsel schlafqualität',
    BOOSTED: 'steigern stärken erhöhen',
    YOUNG: 'hautalterung faltenfrei',
    SELF: 'ich',
    LOST_WEIGHT: 'abgenommen verloren',
    KILOS: 'kilo kilos kg pfund',
    MY: 'mein meine',
    GONE: 'weg verschwunden geheilt verschwand',
  },
  grammar: {
    NOT: 'nicht nie niemals weder',
    NO: 'kein keine keinen keiner',
    LACKING: 'ohne',
    TAKEN_BACK: 'nur',
    CONTRAST: 'aber sondern',
    AND: 'und oder',
    COPULA: 'ist sind wird',
    FORBIDDEN: 'verboten untersagt',
    PERMITTED: 'erlaubt',
    GLUE: 'für den zur',
    SUBJECT: 'für',
  },
  phrases: {
    disease_claim: `
      hilft|wirkt ~3 gegen|bei ~2 CONDITION|AILMENT`,
    human_use: `
      INJECT ~4 unter ~1 haut`,
    neutral: `
      AGAINST korrosion|rost
      TREAT ~2 holz|leder|metall|flecken|oberflächen
      gewichtsverlust ~2 verpackung|verpackungen|pakets|produkts
      wundheilung ~1 bei mäusen|ratten|tieren`,
    product_identity: `
      nahrungsergänzungsmittel`,
    notice: `
      !nur ~2 forschung|forschungszwecke`,
  },
}
