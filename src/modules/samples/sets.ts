import type { Prop } from './images.ts'
import type { Motif } from './motifs.ts'
import type { Palette } from './paint.ts'
import { SAMPLE_COLLECTIONS, SAMPLE_GIFT_CARD, SAMPLES, type Sample } from './products.ts'
import type { DrawingStyle } from './views.ts'

/** The products and collections of a sample store. */
export interface SampleSet {
  samples: readonly Sample[]
  style: DrawingStyle
  collections: readonly {
    slug: string
    title: string
    description: string
    products: readonly string[]
  }[]
}

/** Goods for the home: the samples that a merchant's draft store gets on request. */
export const HOME: SampleSet = {
  samples: SAMPLES,
  collections: SAMPLE_COLLECTIONS,
  style: {
    room: 'day',
    isPortrait: false,
    closeAlt: (name) => `${name}, from near`,
    sceneAlt: (name) => `${name} on the table, beside other things of the shop`,
  },
}

/** The same goods, and gift cards: the first of the demo stores, which has the add-on to sell them. */
export const HOME_AND_GIFTS: SampleSet = { ...HOME, samples: [...SAMPLES, SAMPLE_GIFT_CARD] }

type Colours = [wall: string, table: string, light: string, dark: string, accent: string]

const palette = (...[wall, table, light, dark, accent]: Colours) => ({
  wall,
  table,
  light,
  dark,
  accent,
})

const RED = palette('#f3c7bd', '#f3c7bd', '#ff6a55', '#b8231a', '#fff4e6')
const BLACK = palette('#d8d5ce', '#d8d5ce', '#5a5a5c', '#141416', '#e5352b')
const WHITE = palette('#e5352b', '#e5352b', '#ffffff', '#b9b4ac', '#f3d9d2')
const BLUE = palette('#cfd9ef', '#cfd9ef', '#5b86ff', '#1437b8', '#f5f2ea')
const YELLOW = palette('#f1e7cf', '#f1e7cf', '#ffd23d', '#c98a00', '#e5352b')
const GREEN = palette('#d5e3d3', '#d5e3d3', '#4fae7c', '#12583a', '#f5f2ea')

const COCOA = palette('#33231b', '#3a2418', '#b5713f', '#4f2815', '#e8b064')
const EMBER = palette('#3a1f17', '#33190f', '#e07b3f', '#7d2c15', '#f2b35c')
const FOREST = palette('#232a20', '#2a2118', '#8fa06a', '#35472a', '#e0b860')
const INK = palette('#20242e', '#241d1a', '#7283a8', '#262f47', '#e2b366')
const HONEY = palette('#34250f', '#33210f', '#f2b749', '#96540c', '#f0bf5e')

type Row = readonly [
  slug: string,
  name: string,
  description: string,
  variants: readonly (readonly [
    sku: string,
    label: string | null,
    price_cents: number,
    more?: {
      /** The price before a reduction. */
      before?: number
      /** What one unit contains, if it is sold by weight. */
      grams?: number
    },
  ])[],
  motif: Motif,
  palette: Palette,
  alt: string,
  beside: Motif,
  rest?: {
    prop?: Prop
    /** The name of the option whose values the labels are. */
    option?: string
    looks?: NonNullable<Sample['looks']>
    /** Its price per month, if it can be subscribed to. */
    monthly_cents?: number
  },
]

const sample = (row: Row): Sample => {
  const [slug, name, description, variants, motif, colours, alt, beside, rest = {}] = row
  const { option, monthly_cents, ...drawn } = rest
  return {
    product: {
      slug,
      name,
      description,
      ...(monthly_cents === undefined
        ? {}
        : { subscription_interval: 'month' as const, subscription_price_cents: monthly_cents }),
    },
    variants: variants.map(([sku, label, price_cents, { before, grams } = {}]) => ({
      sku,
      label,
      price_cents,
      ...(before === undefined ? {} : { compare_at_price_cents: before }),
      ...(grams === undefined ? {} : { content_amount: grams, content_unit: 'g' as const }),
      ...(option === undefined || label === null
        ? {}
        : { options: [{ name: option, value: label }] }),
    })),
    motif,
    palette: colours,
    alt,
    beside,
    ...drawn,
  }
}

/** A design studio with few products and short texts. */
export const OBJECTS: SampleSet = {
  samples: (
    [
      [
        'cup-01',
        'Cup 01',
        'Slip-cast porcelain. 300 ml. Stacks six high without a wobble. The handle is a circle because a hand is not.',
        [
          ['OBJ-CUP-1', 'One', 1_800],
          ['OBJ-CUP-4', 'Four', 6_400, { before: 7_200 }],
        ],
        'mug',
        RED,
        'A red cup with a round handle',
        'teapot',
        { option: 'Set', looks: [{ skus: ['OBJ-CUP-4'], count: 4, alt: 'Four cups in a row' }] },
      ],
      [
        'bowl-02',
        'Bowl 02',
        'One radius, two sizes. Glazed inside, raw outside, so that the hand finds out what the eye already knew.',
        [
          ['OBJ-BOWL-18', '18 cm', 2_600],
          ['OBJ-BOWL-28', '28 cm', 4_200],
        ],
        'bowl',
        BLUE,
        'A blue bowl on a small foot',
        'vase',
        {
          option: 'Size',
          looks: [{ skus: ['OBJ-BOWL-18'], scale: 0.68, alt: 'The small bowl' }],
        },
      ],
      [
        'plate-03',
        'Plate 03',
        'Four plates. Two colours. No rim. They nest to nine centimetres and forgive the dishwasher.',
        [['OBJ-PLATE', 'Set of four', 5_200]],
        'plates',
        WHITE,
        'Four stacked plates in white and red',
        'mug',
      ],
      [
        'pot-04',
        'Pot 04',
        'Pours without a drip. We tested that for a year, with the same tea and a growing pile of tablecloths.',
        [['OBJ-POT', null, 6_800]],
        'teapot',
        BLACK,
        'A black teapot with a red knob',
        'mug',
      ],
      [
        'vase-05',
        'Vase 05',
        'For three stems. Or none: it was drawn to stand empty as well.',
        [['OBJ-VASE', null, 5_400]],
        'vase',
        YELLOW,
        'A yellow vase with three dark flowers',
        'bowl',
      ],
      [
        'lamp-06',
        'Lamp 06',
        'Folded steel, powder-coated, dims to five per cent. One screw holds it together; the key is in the box.',
        [
          ['OBJ-LAMP-T', 'Table', 12_800],
          ['OBJ-LAMP-F', 'Floor', 21_400],
        ],
        'lamp',
        BLACK,
        'A black lamp with a red ring of light',
        'vase',
        { option: 'Version' },
      ],
      [
        'cushion-07',
        'Cushion 07',
        'Heavy cotton, 50 × 50 cm. Three lines, woven and not printed. The cover comes off in ten seconds.',
        [
          ['OBJ-CUSHION', 'Red', 4_600],
          ['OBJ-CUSHION-BLUE', 'Blue', 4_600],
          ['OBJ-CUSHION-GREEN', 'Green', 4_600],
        ],
        'cushion',
        RED,
        'A red cushion with three black lines',
        'blanket',
        {
          option: 'Colour',
          looks: [
            { skus: ['OBJ-CUSHION-BLUE'], palette: BLUE, alt: 'The same cushion in blue' },
            { skus: ['OBJ-CUSHION-GREEN'], palette: GREEN, alt: 'The same cushion in green' },
          ],
        },
      ],
      [
        'blanket-08',
        'Blanket 08',
        'Merino, woven double, so that both sides are the right one.',
        [['OBJ-BLANKET', '140 × 200 cm', 16_800]],
        'blanket',
        BLUE,
        'Three folded blue blankets',
        'candle',
      ],
      [
        'candle-09',
        'Candle 09',
        'No scent. Sixty hours. A flame and nothing to add.',
        [['OBJ-CANDLE', null, 1_600]],
        'candle',
        WHITE,
        'A white candle with a red flame',
        'bowl',
      ],
    ] satisfies Row[]
  ).map(sample),
  style: {
    room: 'studio',
    isPortrait: false,
    closeAlt: (name) => `${name}, detail`,
    sceneAlt: (name) => `${name} in company`,
  },
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
        'Achtundsiebzig Prozent, aus einem einzigen Tal. Erst Schwarzkirsche, dann Rauch, dann Stille. 80 g, drei Tage auf dem Stein gemahlen und von Hand in Papier geschlagen.',
        [
          ['EMB-MID-1', 'Eine Tafel', 890, { grams: 80 }],
          ['EMB-MID-5', 'Fünf Tafeln', 3_990, { before: 4_450, grams: 400 }],
        ],
        'bar',
        COCOA,
        'Eine Tafel dunkler Schokolade, halb ausgepackt',
        'mug',
        {
          prop: 'board',
          option: 'Packung',
          looks: [{ skus: ['EMB-MID-5'], count: 5, alt: 'Fünf Tafeln dunkler Schokolade' }],
        },
      ],
      [
        'ember-bar',
        'Glut',
        'Milchschokolade mit Rauchsalz und einer langsamen Wärme von Chili, die spät kommt wie gute Gesellschaft. 80 g, mit Milch von Kühen, deren Namen wir kennen.',
        [
          ['EMB-EMB-1', 'Eine Tafel', 890, { grams: 80 }],
          ['EMB-EMB-5', 'Fünf Tafeln', 3_990, { before: 4_450, grams: 400 }],
        ],
        'bar',
        EMBER,
        'Eine Tafel Schokolade in kupfernem Papier',
        'candle',
        {
          prop: 'books',
          option: 'Packung',
          looks: [{ skus: ['EMB-EMB-5'], count: 5, alt: 'Fünf Tafeln in kupfernem Papier' }],
        },
      ],
      [
        'rye-roast',
        'Roggenröstung',
        'Kaffee, mit einer Handvoll Roggen geröstet: Brotkruste, Melasse und ein Nachklang bis zur zweiten Tasse.',
        [
          ['EMB-RYE-B', 'Ganze Bohnen, 250 g', 1_650, { grams: 250 }],
          ['EMB-RYE-F', 'Gemahlen, 250 g', 1_650, { grams: 250 }],
        ],
        'bag',
        COCOA,
        'Ein Beutel Kaffee mit goldenem Siegel',
        'mug',
        {
          prop: 'board',
          option: 'Mahlung',
          monthly_cents: 1_490,
          looks: [
            {
              skus: ['EMB-RYE-F'],
              palette: FOREST,
              alt: 'Der Beutel mit gemahlenem Kaffee, in Grün',
            },
          ],
        },
      ],
      [
        'forest-tea',
        'Waldboden',
        'Geräucherter Schwarztee, Fichtenspitzen und getrocknete Heidelbeeren. Für den Moment, in dem der Regen beginnt. Die Dose fasst neunzig Gramm und lässt sich nachfüllen.',
        [['EMB-TEA', 'Dose, 90 g', 1_850, { grams: 90 }]],
        'tin',
        FOREST,
        'Eine dunkelgrüne Teedose mit goldenem Etikett',
        'teapot',
        { prop: 'sprig' },
      ],
      [
        'heath-honey',
        'Heidehonig',
        'Einmal im Jahr geschleudert, in der letzten Augustwoche. So fest, dass man ihn zweimal bitten muss.',
        [
          ['EMB-HON-250', '250 g', 1_450, { grams: 250 }],
          ['EMB-HON-500', '500 g', 2_500, { grams: 500 }],
        ],
        'jar',
        HONEY,
        'Ein Glas goldener Honig',
        'bowl',
        {
          prop: 'board',
          option: 'Inhalt',
          looks: [{ skus: ['EMB-HON-250'], scale: 0.76, alt: 'Das kleine Glas' }],
        },
      ],
      [
        'hearth-candle',
        'Herdfeuer',
        'Birkenteer, Zeder und altes Papier. Fünfzig Stunden in einem Zimmer, das man nicht verlassen will.',
        [['EMB-CAN', null, 3_400]],
        'candle',
        EMBER,
        'Eine brennende Kerze in kupfernem Glas',
        'bar',
        { prop: 'books' },
      ],
      [
        'reading-hour',
        'Die Lesestunde',
        'Eine kleine Lampe mit plissiertem Schirm, für die Stunde zwischen Abendbrot und Schlaf.',
        [['EMB-LAMP', null, 11_900]],
        'lamp',
        INK,
        'Eine leuchtende Lampe vor dunkelblauer Wand',
        'mug',
        { prop: 'books' },
      ],
      [
        'night-blanket',
        'Nachtdecke',
        'Lammwolle in drei Tönen der Dämmerung. Sie merkt sich nichts und verzeiht alles.',
        [['EMB-BLA', '130 × 180 cm', 13_900]],
        'blanket',
        INK,
        'Gefaltete Decken in Dunkelblau',
        'lamp',
      ],
    ] satisfies Row[]
  ).map(sample),
  style: {
    room: 'night',
    isPortrait: true,
    closeAlt: (name) => `${name} aus der Nähe`,
    sceneAlt: (name) => `${name} auf dem Tisch, neben anderem aus dem Laden`,
  },
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
