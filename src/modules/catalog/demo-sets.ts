import type { Motif, Palette } from './demo-pictures.ts'
import { SAMPLE_COLLECTIONS, SAMPLES, type Sample } from './demo-products.ts'

/** What a sample store is stocked with. */
export interface SampleSet {
  samples: readonly Sample[]
  collections: readonly {
    slug: string
    title: string
    description: string
    products: readonly string[]
  }[]
}

/** The shop for the home: what a merchant's draft store gets on request. */
export const HOME: SampleSet = { samples: SAMPLES, collections: SAMPLE_COLLECTIONS }

const palette = (wall: string, table: string, light: string, dark: string, accent: string) => ({
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

/** A studio that makes few things and says little about them. */
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

/** A small house of dark and sweet things. */
export const EMBER_AND_RYE: SampleSet = {
  samples: (
    [
      [
        'midnight-bar',
        'Midnight',
        'Seventy-eight per cent, from a single valley. Black cherry first, then smoke, then a silence.',
        [
          ['EMB-MID-1', 'One bar', 890],
          ['EMB-MID-5', 'Five bars', 3_990],
        ],
        'bar',
        COCOA,
        'A bar of dark chocolate, half unwrapped',
      ],
      [
        'ember-bar',
        'Ember',
        'Milk chocolate with smoked salt and a slow warmth of chilli that arrives late, like good company.',
        [
          ['EMB-EMB-1', 'One bar', 890],
          ['EMB-EMB-5', 'Five bars', 3_990],
        ],
        'bar',
        EMBER,
        'A bar of chocolate in a copper wrapper',
      ],
      [
        'rye-roast',
        'Rye Roast',
        'Coffee roasted with a handful of rye: bread crust, molasses, and a finish that stays for the second cup.',
        [
          ['EMB-RYE-B', 'Whole beans, 250 g', 1_650],
          ['EMB-RYE-F', 'Ground, 250 g', 1_650],
        ],
        'bag',
        COCOA,
        'A bag of coffee with a golden seal',
      ],
      [
        'forest-tea',
        'Forest Floor',
        'Smoked black tea, spruce tips and dried bilberry. Drink it when the rain begins.',
        [['EMB-TEA', 'Tin, 90 g', 1_850]],
        'tin',
        FOREST,
        'A dark green tea tin with a golden label',
      ],
      [
        'heath-honey',
        'Heath Honey',
        'Taken once a year, in the last week of August. So thick that it has to be asked twice.',
        [
          ['EMB-HON-250', '250 g', 1_450],
          ['EMB-HON-500', '500 g', 2_500],
        ],
        'jar',
        HONEY,
        'A jar of golden honey',
      ],
      [
        'hearth-candle',
        'Hearth',
        'Birch tar, cedar and old paper. Fifty hours of a room you do not want to leave.',
        [['EMB-CAN', null, 3_400]],
        'candle',
        EMBER,
        'A lit candle in copper glass',
      ],
      [
        'reading-hour',
        'The Reading Hour',
        'A small lamp with a pleated shade, for the hour between supper and sleep.',
        [['EMB-LAMP', null, 11_900]],
        'lamp',
        INK,
        'A lamp glowing before a dark blue wall',
      ],
      [
        'night-blanket',
        'Night Blanket',
        'Lambswool in three shades of dusk. It remembers nothing and forgives everything.',
        [['EMB-BLA', '130 × 180 cm', 13_900]],
        'blanket',
        INK,
        'Folded blankets in dark blue',
      ],
    ] satisfies Row[]
  ).map(sample),
  collections: [
    {
      slug: 'chocolate',
      title: 'Chocolate',
      description: 'Made in batches of forty, by two people and a stone.',
      products: ['midnight-bar', 'ember-bar'],
    },
    {
      slug: 'cup-and-jar',
      title: 'Cup & Jar',
      description: 'For the kettle, the pot and the spoon.',
      products: ['rye-roast', 'forest-tea', 'heath-honey'],
    },
    {
      slug: 'evening',
      title: 'Evening',
      description: 'Light and warmth, and no hurry.',
      products: ['hearth-candle', 'reading-hour', 'night-blanket'],
    },
  ],
}
