import type { Motif, Palette } from './demo-images.ts'
import { SAMPLE_COLLECTIONS, SAMPLES, type Sample } from './demo-products.ts'

/** The products and collections of a sample store. */
export interface SampleSet {
  samples: readonly Sample[]
  collections: readonly {
    slug: string
    title: string
    description: string
    products: readonly string[]
  }[]
}

/** Goods for the home: the samples that a merchant's draft store gets on request. */
export const HOME: SampleSet = { samples: SAMPLES, collections: SAMPLE_COLLECTIONS }

type Colours = [wall: string, table: string, light: string, dark: string, accent: string]

const palette = (...[wall, table, light, dark, accent]: Colours) => ({
  wall,
  table,
  light,
  dark,
  accent,
})

const RED = palette('#f1f1ef', '#dedede', '#ff6a55', '#d1281d', '#111111')
const BLACK = palette('#ececec', '#d5d5d5', '#5a5a5a', '#111111', '#e5352b')
const WHITE = palette('#d9d9d9', '#c2c2c2', '#ffffff', '#bdbdbd', '#e5352b')
const BLUE = palette('#f1f1ef', '#dedede', '#4a7bff', '#1437b8', '#f5f5f5')
const YELLOW = palette('#efefef', '#dadada', '#ffd83d', '#e0a800', '#111111')

const COCOA = { ...palette('#2a1d17', '#1b120e', '#a9683f', '#4a2616', '#e0a458'), lamp: '#e0a070' }
const EMBER = { ...palette('#301a14', '#1d0f0b', '#e07b3f', '#8a2f17', '#f5cf86'), lamp: '#ff9a5c' }
const FOREST = {
  ...palette('#1c231c', '#111611', '#8fa06a', '#3d4d2c', '#e8c87a'),
  lamp: '#c8d49a',
}
const INK = { ...palette('#1c2029', '#11141a', '#6f7fa3', '#262f47', '#e6c17a'), lamp: '#9fb4e8' }
const HONEY = { ...palette('#2d2113', '#1b130a', '#f2b749', '#a8620f', '#f7e2b0'), lamp: '#f2c879' }

type Row = readonly [
  slug: string,
  name: string,
  description: string,
  variants: readonly (readonly [sku: string, label: string | null, price_cents: number])[],
  motif: Motif,
  palette: Palette,
  alt: string,
]

const sample = ([slug, name, description, variants, motif, colours, alt]: Row): Sample => ({
  product: { slug, name, description },
  variants: variants.map(([sku, label, price_cents]) => ({ sku, label, price_cents })),
  motif,
  palette: colours,
  alt,
})

/** A design studio with few products and short texts. */
export const OBJECTS: SampleSet = {
  samples: (
    [
      [
        'cup-01',
        'Cup 01',
        'Slip-cast porcelain. 300 ml. Stacks.',
        [
          ['OBJ-CUP-1', 'One', 1_800],
          ['OBJ-CUP-4', 'Four', 6_400],
        ],
        'mug',
        RED,
        'A red cup with a round handle',
      ],
      [
        'bowl-02',
        'Bowl 02',
        'One radius, two sizes. Glazed inside, raw outside.',
        [
          ['OBJ-BOWL-18', '18 cm', 2_600],
          ['OBJ-BOWL-28', '28 cm', 4_200],
        ],
        'bowl',
        BLUE,
        'A blue bowl on a small foot',
      ],
      [
        'plate-03',
        'Plate 03',
        'Four plates. Two colours. No rim.',
        [['OBJ-PLATE', 'Set of four', 5_200]],
        'plates',
        WHITE,
        'Four stacked plates in white and red',
      ],
      [
        'pot-04',
        'Pot 04',
        'Pours without a drip. Tested for a year.',
        [['OBJ-POT', null, 6_800]],
        'teapot',
        BLACK,
        'A black teapot with a red knob',
      ],
      [
        'vase-05',
        'Vase 05',
        'For three stems. Or none.',
        [['OBJ-VASE', null, 5_400]],
        'vase',
        YELLOW,
        'A yellow vase with three dark flowers',
      ],
      [
        'lamp-06',
        'Lamp 06',
        'Folded steel, powder-coated. Dims to 5 %.',
        [
          ['OBJ-LAMP-T', 'Table', 12_800],
          ['OBJ-LAMP-F', 'Floor', 21_400],
        ],
        'lamp',
        BLACK,
        'A black lamp with a red ring of light',
      ],
      [
        'cushion-07',
        'Cushion 07',
        'Heavy cotton. Three lines. The cover comes off.',
        [['OBJ-CUSHION', '50 × 50 cm', 4_600]],
        'cushion',
        RED,
        'A red cushion with three black lines',
      ],
      [
        'blanket-08',
        'Blanket 08',
        'Merino, woven double, so that both sides are the right one.',
        [['OBJ-BLANKET', '140 × 200 cm', 16_800]],
        'blanket',
        BLUE,
        'Three folded blue blankets',
      ],
      [
        'candle-09',
        'Candle 09',
        'No scent. Sixty hours.',
        [['OBJ-CANDLE', null, 1_600]],
        'candle',
        WHITE,
        'A white candle with a red flame',
      ],
    ] satisfies Row[]
  ).map(sample),
  collections: [
    {
      slug: 'table',
      title: 'Table',
      description: 'To eat and drink from.',
      products: ['cup-01', 'bowl-02', 'plate-03', 'pot-04'],
    },
    {
      slug: 'room',
      title: 'Room',
      description: 'To live with.',
      products: ['lamp-06', 'cushion-07', 'blanket-08', 'vase-05', 'candle-09'],
    },
  ],
}

/** A store with a dark theme that sells sweets and drinks. */
export const EMBER_AND_RYE: SampleSet = {
  samples: (
    [
      [
        'midnight-bar',
        'Mitternacht',
        'Achtundsiebzig Prozent, aus einem einzigen Tal. Erst Schwarzkirsche, dann Rauch, dann Stille.',
        [
          ['EMB-MID-1', 'Eine Tafel', 890],
          ['EMB-MID-5', 'Fünf Tafeln', 3_990],
        ],
        'bar',
        COCOA,
        'Eine Tafel dunkler Schokolade, halb ausgepackt',
      ],
      [
        'ember-bar',
        'Glut',
        'Milchschokolade mit Rauchsalz und einer langsamen Wärme von Chili, die spät kommt wie gute Gesellschaft.',
        [
          ['EMB-EMB-1', 'Eine Tafel', 890],
          ['EMB-EMB-5', 'Fünf Tafeln', 3_990],
        ],
        'bar',
        EMBER,
        'Eine Tafel Schokolade in kupfernem Papier',
      ],
      [
        'rye-roast',
        'Roggenröstung',
        'Kaffee, mit einer Handvoll Roggen geröstet: Brotkruste, Melasse und ein Nachklang bis zur zweiten Tasse.',
        [
          ['EMB-RYE-B', 'Ganze Bohnen, 250 g', 1_650],
          ['EMB-RYE-F', 'Gemahlen, 250 g', 1_650],
        ],
        'bag',
        COCOA,
        'Ein Beutel Kaffee mit goldenem Siegel',
      ],
      [
        'forest-tea',
        'Waldboden',
        'Geräucherter Schwarztee, Fichtenspitzen und getrocknete Heidelbeeren. Für den Moment, in dem der Regen beginnt.',
        [['EMB-TEA', 'Dose, 90 g', 1_850]],
        'tin',
        FOREST,
        'Eine dunkelgrüne Teedose mit goldenem Etikett',
      ],
      [
        'heath-honey',
        'Heidehonig',
        'Einmal im Jahr geschleudert, in der letzten Augustwoche. So fest, dass man ihn zweimal bitten muss.',
        [
          ['EMB-HON-250', '250 g', 1_450],
          ['EMB-HON-500', '500 g', 2_500],
        ],
        'jar',
        HONEY,
        'Ein Glas goldener Honig',
      ],
      [
        'hearth-candle',
        'Herdfeuer',
        'Birkenteer, Zeder und altes Papier. Fünfzig Stunden in einem Zimmer, das man nicht verlassen will.',
        [['EMB-CAN', null, 3_400]],
        'candle',
        EMBER,
        'Eine brennende Kerze in kupfernem Glas',
      ],
      [
        'reading-hour',
        'Die Lesestunde',
        'Eine kleine Lampe mit plissiertem Schirm, für die Stunde zwischen Abendbrot und Schlaf.',
        [['EMB-LAMP', null, 11_900]],
        'lamp',
        INK,
        'Eine leuchtende Lampe vor dunkelblauer Wand',
      ],
      [
        'night-blanket',
        'Nachtdecke',
        'Lammwolle in drei Tönen der Dämmerung. Sie merkt sich nichts und verzeiht alles.',
        [['EMB-BLA', '130 × 180 cm', 13_900]],
        'blanket',
        INK,
        'Gefaltete Decken in Dunkelblau',
      ],
    ] satisfies Row[]
  ).map(sample),
  collections: [
    {
      slug: 'chocolate',
      title: 'Schokolade',
      description: 'Immer vierzig auf einmal, von zwei Menschen und einem Stein.',
      products: ['midnight-bar', 'ember-bar'],
    },
    {
      slug: 'cup-and-jar',
      title: 'Tasse & Glas',
      description: 'Für Kessel, Kanne und Löffel.',
      products: ['rye-roast', 'forest-tea', 'heath-honey'],
    },
    {
      slug: 'evening',
      title: 'Abend',
      description: 'Licht und Wärme, und keine Eile.',
      products: ['hearth-candle', 'reading-hour', 'night-blanket'],
    },
  ],
}
