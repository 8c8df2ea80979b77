import type { Language } from './language.ts'

export const ITALIAN: Language = {
  code: 'it',
  script: 'latin',
  isDeep: false,
  words: {
    TREAT: `cura curano curare guarisce guariscono guarire tratta trattano trattare previene
      prevengono prevenire combatte combattono combattere sconfigge`,
    EASE: 'allevia alleviano alleviare elimina eliminano riduce riducono calma lenisce attenua',
    REMEDY: 'trattamento rimedio rimedi terapia prevenzione farmaco cura',
    AGAINST: 'contro',
    CONDITION: `cancro tumore tumori tumorali tumorale diabete artrite artrosi depressione ansia
      ipertensione insonnia infiammazione infiammazioni colesterolo emicrania emicranie alzheimer
      parkinson demenza asma eczema psoriasi acne infarto osteoporosi influenza gotta obesità
      impotenza epatite herpes malattia malattie allergie reumatismi calvizie`,
    AILMENT: 'dolore dolori mal',
    LOWER: 'abbassa abbassano riduce riducono regola',
    LEVEL: 'pressione glicemia colesterolo zuccheri',
    FIT: 'per adatto adatta idoneo idonea sicuro sicura destinato',
    HUMAN: 'umano umana umani persone',
    USE: 'consumo uso utilizzo',
    TAKE: 'prendere prendi prenda prendete assumere assumi assumete ingerire',
    INJECT: 'iniettare inietta iniettati iniezione',
    SKIN: 'pelle pancia addome',
    NUM: 'un una uno due tre quattro cinque sei',
    PIECE: 'capsula capsule compressa compresse pillola pillole gocce dose dosi pastiglia',
    DAILY: 'quotidianamente',
    PER: 'al alla ogni',
    DAY: 'giorno giorni settimana sera mattina',
    AGENCY: 'aifa',
    APPROVED: 'approvato approvata autorizzato autorizzata certificato certificata',
    DOCTOR: 'medico medici dottori farmacisti',
    RECOMMENDED:
      'raccomandato raccomandata consigliato consigliata raccomandano consigliano prescritto',
    LOSE: 'perdere perdi perde',
    WEIGHT: 'peso',
    SLIM: 'dimagrire dimagrisci dimagrante dimagrisce bruciagrassi antietà antirughe',
    BURN: 'brucia bruciare bruciano scioglie',
    FAT: 'grasso grassi',
    GROW: 'aumenta aumentare aumentano sviluppa',
    MUSCLE: 'muscolare muscoli',
    BOOST: 'aumenta aumentare stimola migliora potenzia rafforza accelera',
    VITAL: 'libido testosterone metabolismo immunitario erezione sessuale sessuali sonno',
    SELF: 'ho',
    LOST_WEIGHT: 'perso',
    KILOS: 'chilo chili kg peso',
    MY: 'mio mia miei mie',
    GONE: 'scomparso scomparsa scomparsi sparito sparita spariti passato guarito guarita',
  },
  grammar: {
    NOT: 'non mai',
    NO: 'nessun nessuna nessuno alcuna alcun',
    LACKING: 'senza',
    TAKEN_BACK: 'solo soltanto',
    CONTRAST: 'ma però',
    AND: 'e',
    COPULA: 'è sono',
    FORBIDDEN: 'vietato vietata',
    PERMITTED: 'consentito destinato',
  },
  phrases: {
    body_outcome: `
      perdita di peso
      anti age|invecchiamento|rughe`,
    human_use: `
      INJECT ~4 sotto ~1 pelle`,
    neutral: `
      cura del|dei|delle|degli|di|nei|dettagli
      a cura
      perdita di peso ~2 imballaggio|confezione|prodotto|pacco
      trattamento ~3 legno|cuoio|superfici|superficie|metalli
      TREAT ~2 ruggine|legno|cuoio|calcare
      EASE ~2 tensione|rumore|peso|stress
      segno|tropico ~1 cancro`,
    notice: `
      !solo ~1 uso ~2 ricerca
      !scopi di ricerca`,
  },
}
