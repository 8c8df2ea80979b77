/** The names of options whose values are seen rather than read, in the languages of the storefront and some others. */
export const SEEN_OPTIONS: ReadonlySet<string> = new Set(
  `colour color farbe couleur coloris colore kleur cor farve färg kolor
   pattern print design motif finish muster dekor motiv oberfläche imprimé finition estampado diseño acabado`.split(
    /\s+/,
  ),
)

/** The words of a colour in English, German, French and Spanish. */
const WORDS: readonly (readonly [colour: string, words: string])[] = [
  ['#ffffff', 'white weiß weiss blanc blanche blanco blanca'],
  ['#151515', 'black schwarz noir noire negro negra'],
  ['#8b8b8b', 'grey gray grau gris'],
  ['#3c3f43', 'anthracite charcoal anthrazit antracita'],
  ['#c3c6c9', 'silver silber argent plata plateado'],
  ['#c9a24b', 'gold golden doré oro dorado'],
  ['#cc2b2b', 'red rot rouge rojo roja'],
  ['#7d1f33', 'burgundy bordeaux burdeos weinrot'],
  ['#e8772e', 'orange naranja'],
  ['#f2c230', 'yellow gelb jaune amarillo amarilla'],
  ['#d3a13b', 'mustard senf moutarde mostaza'],
  ['#3b8a4b', 'green grün vert verte verde'],
  ['#6f7336', 'olive oliv oliva'],
  ['#a8c3a0', 'sage mint salbei menthe sauge salvia menta'],
  ['#2f62c4', 'blue blau bleu bleue azul'],
  ['#1d2a4d', 'navy marine marineblau marino'],
  ['#1f9a9a', 'turquoise teal türkis petrol turquesa'],
  ['#7b4ba0', 'purple violet lila violett violette morado morada'],
  ['#e58fae', 'pink rosa rose'],
  ['#7a4a2b', 'brown braun brun marron marrón'],
  ['#d9c3a0', 'beige sand sable arena'],
  ['#f3ead6', 'cream ivory creme crème ivoire crema marfil'],
  ['#c1714b', 'terracotta terrakotta terracota'],
]

/** The colour of each word. */
export const COLOUR_WORDS: ReadonlyMap<string, string> = new Map(
  WORDS.flatMap(([colour, words]) => words.split(' ').map((word) => [word, colour] as const)),
)
