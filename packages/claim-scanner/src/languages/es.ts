import type { Language } from './language.ts'

export const SPANISH: Language = {
  code: 'es',
  script: 'latin',
  isDeep: true,
  words: {
    TREAT: `cura curan curar curará trata tratan tratar previene prevenir sana sanan combate combaten
      combatir`,
    EASE: 'alivia alivian aliviar elimina eliminan reduce reducen calma quita',
    REMEDY: 'tratamiento remedio cura medicamento prevención',
    AGAINST: 'contra',
    CONDITION: `cáncer tumor tumores diabetes artritis artrosis enfermedad enfermedades depresión
      ansiedad hipertensión insomnio inflamación inflamaciones colesterol migraña migrañas alzheimer
      parkinson demencia asma eczema psoriasis acné infarto osteoporosis gripe gota obesidad
      impotencia hepatitis herpes cancerosas cancerígenas cancerosos reumatismo alergias`,
    AILMENT: 'dolor dolores',
    LOWER: 'baja bajar bajan reduce reducen regula controla disminuye',
    LEVEL: 'presión azúcar glucosa colesterol triglicéridos',
    FIT: 'para apto apta seguro segura',
    HUMAN: 'humano humana humanos personas',
    USE: 'consumo uso',
    TAKE: 'tomar tome toma tómese ingerir ingiera',
    INJECT: 'inyectar inyecte inyéctese inyecta inyección',
    SKIN: 'piel abdomen',
    NUM: 'un una dos tres cuatro cinco seis',
    PIECE:
      'cápsula cápsulas comprimido comprimidos tableta tabletas pastilla pastillas gotas dosis',
    DAILY: 'diario diaria diarios diariamente',
    PER: 'al por cada',
    DAY: 'día semana noche mañana',
    DOSE: 'dosis dosificación',
    AGENCY: 'cofepris aemps',
    APPROVED: 'aprobado aprobada autorizado autorizada aprobó',
    DOCTOR: 'médico médicos doctores farmacéuticos',
    RECOMMENDED: 'recomendado recomendada recomiendan recomienda recetado',
    LOSE: 'perder pierde pierda baja bajar',
    WEIGHT: 'peso',
    SLIM: 'adelgaza adelgazar adelgazante quemagrasas antiedad antienvejecimiento',
    BURN: 'quema queman quemar derrite',
    FAT: 'grasa grasas',
    GROW: 'aumenta aumentan aumentar gana desarrolla',
    MUSCLE: 'muscular músculo músculos',
    BOOST: 'aumenta aumentan mejora estimula potencia fortalece acelera',
    VITAL: 'libido testosterona metabolismo inmunitario inmunológico erección sexual',
    SELF: 'yo he',
    LOST_WEIGHT: 'perdido bajado adelgazado perdí bajé',
    KILOS: 'kilo kilos kg libras peso',
    MY: 'mi mis',
    GONE: 'desaparecido desapareció desaparecieron curado curó',
  },
  grammar: {
    NOT: 'nunca jamás',
    NO: 'ningún ninguna',
    LACKING: 'sin',
    TAKEN_BACK: 'solo sólo',
    CONTRAST: 'sino pero',
    AND: 'y o',
    PRONOUN: 'este',
    COPULA: 'está es',
    FORBIDDEN: 'prohibido',
    PERMITTED: 'permitido',
    GLUE: 'para la',
    SUBJECT: 'cura curan trata tratan previene sirve está están es son se debe para apto destinado',
  },
  phrases: {
    disease_claim: `
      ayuda ~2 contra|con ~3 CONDITION|AILMENT`,
    body_outcome: `
      pérdida de peso
      crecimiento muscular`,
    human_use: `
      para ~1 uso ~1 humanos|personas`,
    neutral: `
      bajo peso
      peso neto|bruto|del
      pérdida de peso ~2 embalaje|envase|paquete|producto|caja|muestra
      TREAT ~1 madera|cuero|metal|superficie|superficies|embutido|jamón|queso|ruido
      EASE ~2 tensión|ruido|peso|estrés
      signo|trópico ~1 cáncer`,
    notice: `
      !uso en investigación
      !uso de investigación`,
  },
}
