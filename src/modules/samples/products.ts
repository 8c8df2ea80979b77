import type { NewProduct, NewVariant } from '../catalog/schema.ts'
import type { Prop } from './images.ts'
import type { Motif } from './motifs.ts'
import type { Palette } from './paint.ts'

/** Goods for the home: the sample products that a draft store gets on request. */

/** What some variants look like: another colour or size, or more than one. */
export interface Look {
  skus: readonly string[]
  alt: string
  palette?: Palette
  /** The size, where 1 is that of the first image. */
  scale?: number
  /** How many of the thing stand side by side. */
  count?: 1 | 2 | 4 | 5
}

export interface Sample {
  product: NewProduct
  variants: readonly NewVariant[]
  motif: Motif
  palette: Palette
  alt: string
  /** How the variants look that differ from the first image, with an image for each look. */
  looks?: readonly Look[]
  /** The objects that stand beside it in its last image. */
  beside: Motif
  prop?: Prop
}

const ROOM = { wall: '#f0e7da', table: '#d3b48f' }
const CLAY = { ...ROOM, light: '#dba67c', dark: '#8f4f2b', accent: '#f3dfc2' }
const SEA = { ...ROOM, wall: '#e7ece8', light: '#9cc3c4', dark: '#2f6671', accent: '#f3e3bf' }
const CHALK = { ...ROOM, wall: '#e6ddd0', light: '#fbf6ec', dark: '#b8a68a', accent: '#d98b5f' }
const MOSS = { ...ROOM, wall: '#eceade', light: '#b7c49a', dark: '#566a42', accent: '#e9b04c' }
const DUSK = { ...ROOM, wall: '#f0e4e4', light: '#c99fb2', dark: '#6f4460', accent: '#efb95a' }
const NIGHT = { ...ROOM, wall: '#e4e5e8', light: '#7d92b4', dark: '#26344f', accent: '#f2c879' }
const SAND = { ...ROOM, light: '#f0e2c8', dark: '#b2936a', accent: '#c9744a' }

const option = (name: string) => (value: string) => ({ name, value })
const colour = option('Colour')
const set = option('Set')
const size = option('Size')

export const SAMPLES: readonly Sample[] = [
  {
    product: {
      slug: 'harbour-mug',
      name: 'Harbour Mug',
      description:
        'Thrown by hand in small batches, dipped once, and left bare at the foot so that you can feel the clay. It holds 350 ml and keeps its warmth through a second chapter. The handle takes three fingers; the rim is thin enough to forget.',
    },
    variants: [
      {
        sku: 'DEMO-MUG-CLAY',
        label: 'Clay, one',
        options: [colour('Clay'), set('One')],
        price_cents: 2_400,
      },
      {
        sku: 'DEMO-MUG-PAIR',
        label: 'Clay, pair',
        options: [colour('Clay'), set('Pair')],
        price_cents: 4_400,
        compare_at_price_cents: 4_800,
      },
      {
        sku: 'DEMO-MUG-SEA',
        label: 'Sea, one',
        options: [colour('Sea'), set('One')],
        price_cents: 2_400,
      },
      {
        sku: 'DEMO-MUG-SEA-PAIR',
        label: 'Sea, pair',
        options: [colour('Sea'), set('Pair')],
        price_cents: 4_400,
        compare_at_price_cents: 4_800,
      },
      {
        sku: 'DEMO-MUG-CHALK',
        label: 'Chalk, one',
        options: [colour('Chalk'), set('One')],
        price_cents: 2_400,
      },
    ],
    motif: 'mug',
    palette: CLAY,
    alt: 'A clay-coloured mug filled with coffee on a wooden table',
    looks: [
      { skus: ['DEMO-MUG-SEA'], palette: SEA, alt: 'The same mug in sea green' },
      { skus: ['DEMO-MUG-CHALK'], palette: CHALK, alt: 'The same mug in chalk white' },
      { skus: ['DEMO-MUG-PAIR'], count: 2, alt: 'Two of the mugs in the colour of clay' },
      { skus: ['DEMO-MUG-SEA-PAIR'], palette: SEA, count: 2, alt: 'Two of the mugs in sea green' },
    ],
    beside: 'teapot',
    prop: 'books',
  },
  {
    product: {
      slug: 'tide-bowl',
      name: 'Tide Bowl',
      description:
        'A deep, open bowl for soup, salad or the fruit of the week. The glaze pools blue-green towards the rim, so no two are quite alike. Safe in the dishwasher, the microwave and the hands of guests.',
    },
    variants: [
      {
        sku: 'DEMO-BOWL-S',
        label: 'Small, 16 cm',
        options: [size('Small, 16 cm')],
        price_cents: 1_900,
      },
      {
        sku: 'DEMO-BOWL-L',
        label: 'Large, 26 cm',
        options: [size('Large, 26 cm')],
        price_cents: 3_900,
        compare_at_price_cents: 4_600,
      },
    ],
    motif: 'bowl',
    palette: SEA,
    alt: 'A blue-green ceramic bowl',
    looks: [{ skus: ['DEMO-BOWL-S'], scale: 0.68, alt: 'The small bowl' }],
    beside: 'vase',
    prop: 'cloth',
  },
  {
    product: {
      slug: 'everyday-plates',
      name: 'Everyday Plates',
      description:
        'Stoneware plates that stack without a rattle and take whatever a weekday brings. Matt on the outside, smooth where the fork goes, and with just enough of a rim to keep the sauce at home.',
    },
    variants: [
      { sku: 'DEMO-PLATE-4', label: 'Set of four', price_cents: 5_600 },
      { sku: 'DEMO-PLATE-8', label: 'Set of eight', price_cents: 10_400 },
    ],
    motif: 'plates',
    palette: { ...SAND, accent: '#d08a63' },
    alt: 'A stack of four plates in cream and terracotta',
    looks: [{ skus: ['DEMO-PLATE-8'], count: 2, alt: 'Two stacks of four plates' }],
    beside: 'mug',
    prop: 'cloth',
  },
  {
    product: {
      slug: 'fern-teapot',
      name: 'Fern Teapot',
      description:
        'A round-bellied pot for four cups, with a spout that does not drip and a lid that stays on when you pour the last of it. A fine steel strainer sits inside; the knob is turned from ash.',
    },
    variants: [{ sku: 'DEMO-TEAPOT', price_cents: 4_800 }],
    motif: 'teapot',
    palette: MOSS,
    alt: 'A green teapot with an amber knob',
    beside: 'mug',
    prop: 'board',
  },
  {
    product: {
      slug: 'dusk-vase',
      name: 'Dusk Vase',
      description:
        'Narrow at the neck and generous below, so that three stems look like a bouquet. The lower half is dipped a second time, which is where the colour turns to dusk. 24 cm tall, glazed inside and out.',
    },
    variants: [{ sku: 'DEMO-VASE', price_cents: 3_600 }],
    motif: 'vase',
    palette: DUSK,
    alt: 'A plum-coloured vase with three flowers',
    beside: 'bowl',
    prop: 'books',
  },
  {
    product: {
      slug: 'reading-lamp',
      name: 'Reading Lamp',
      description:
        'A linen shade on a slim steel stem, dimmable down to a glow. The cord is two metres of braided cotton, with the switch where your hand expects it at eleven at night.',
    },
    variants: [
      { sku: 'DEMO-LAMP-TABLE', label: 'Table', price_cents: 8_900 },
      { sku: 'DEMO-LAMP-FLOOR', label: 'Floor', price_cents: 14_900 },
    ],
    motif: 'lamp',
    palette: NIGHT,
    alt: 'A table lamp with a glowing linen shade',
    beside: 'cushion',
    prop: 'books',
  },
  {
    product: {
      slug: 'cedar-candle',
      name: 'Cedar Candle',
      description:
        'Rapeseed wax with cedar, bergamot and a little smoke, poured by hand into ribbed stoneware glass. It burns for about fifty hours; the glass is yours to keep, and makes a good home for pencils.',
    },
    variants: [{ sku: 'DEMO-CANDLE', price_cents: 2_800 }],
    motif: 'candle',
    palette: SAND,
    alt: 'A lit candle in a cream glass',
    beside: 'vase',
    prop: 'books',
  },
  {
    product: {
      slug: 'wool-blanket',
      name: 'Wool Blanket',
      description:
        'Woven from undyed and twice-dyed lambswool, brushed once, and finished with a fringe by hand. Large enough for two and a film.',
    },
    variants: [
      {
        sku: 'DEMO-BLANKET-M',
        label: '130 × 180 cm',
        price_cents: 11_900,
        compare_at_price_cents: 13_900,
      },
      { sku: 'DEMO-BLANKET-L', label: '150 × 220 cm', price_cents: 14_900 },
    ],
    motif: 'blanket',
    palette: SEA,
    alt: 'Three folded wool blankets in blue and teal',
    beside: 'candle',
    prop: 'sprig',
  },
  {
    product: {
      slug: 'linen-cushion',
      name: 'Linen Cushion',
      description:
        'Washed linen with embroidered lines and a cover that comes off without a fight. Filled with feathers from mills that can say where they come from.',
    },
    variants: [
      { sku: 'DEMO-CUSHION-45', label: '45 × 45 cm', price_cents: 4_200 },
      { sku: 'DEMO-CUSHION-60', label: '60 × 60 cm', price_cents: 5_800 },
    ],
    motif: 'cushion',
    palette: DUSK,
    alt: 'A square plum cushion with embroidered lines',
    looks: [{ skus: ['DEMO-CUSHION-45'], scale: 0.78, alt: 'The smaller cushion' }],
    beside: 'blanket',
  },
  {
    product: {
      slug: 'house-coffee',
      name: 'House Coffee',
      description:
        'Our everyday roast: cocoa, hazelnut and a clean finish. Roasted on Tuesdays, sent on Wednesdays. Have it once, or every month for a little less.',
      subscription_interval: 'month',
      subscription_price_cents: 1_250,
    },
    variants: [
      { sku: 'DEMO-COFFEE-BEANS', label: 'Whole beans, 250 g', price_cents: 1_400 },
      { sku: 'DEMO-COFFEE-FILTER', label: 'Filter grind, 250 g', price_cents: 1_400 },
    ],
    motif: 'bag',
    palette: CLAY,
    alt: 'A bag of coffee with two beans on its label',
    looks: [
      { skus: ['DEMO-COFFEE-FILTER'], palette: SEA, alt: 'The bag of ground coffee, in blue' },
    ],
    beside: 'mug',
    prop: 'board',
  },
  {
    product: {
      slug: 'garden-tea',
      name: 'Garden Tea',
      description:
        'Lemon verbena, mint and a few petals of marigold, dried slowly and packed loose. Gentle in the morning and in the evening.',
    },
    variants: [{ sku: 'DEMO-TEA', label: 'Tin, 80 g', price_cents: 1_600 }],
    motif: 'tin',
    palette: MOSS,
    alt: 'A green tea tin with a leaf on its label',
    beside: 'teapot',
    prop: 'sprig',
  },
  {
    product: {
      slug: 'heather-honey',
      name: 'Heather Honey',
      description:
        'From hives that stand on the moor in August. Thick, dark and a little bitter, as heather honey should be.',
    },
    variants: [
      { sku: 'DEMO-HONEY-250', label: '250 g', price_cents: 1_100 },
      { sku: 'DEMO-HONEY-500', label: '500 g', price_cents: 1_900 },
    ],
    motif: 'jar',
    palette: { ...SAND, light: '#f4c46a', dark: '#b0691c' },
    alt: 'A jar of dark honey',
    looks: [{ skus: ['DEMO-HONEY-250'], scale: 0.76, alt: 'The small jar' }],
    beside: 'bowl',
    prop: 'board',
  },
  {
    product: {
      slug: 'sea-salt-chocolate',
      name: 'Sea Salt Chocolate',
      description:
        'Seventy per cent cocoa, stone-ground for three days, with flakes of salt that crackle before they melt.',
    },
    variants: [
      { sku: 'DEMO-CHOC-1', label: 'One bar, 70 g', price_cents: 650 },
      { sku: 'DEMO-CHOC-5', label: 'Five bars', price_cents: 2_900 },
    ],
    motif: 'bar',
    palette: NIGHT,
    alt: 'A bar of dark chocolate, half unwrapped',
    looks: [{ skus: ['DEMO-CHOC-5'], count: 5, alt: 'Five bars of the chocolate' }],
    beside: 'mug',
    prop: 'cloth',
  },
]

const amount = option('Amount')

/** The gift card of the demo store alone: a merchant's own store may not have the add-on that sells it. */
export const SAMPLE_GIFT_CARD: Sample = {
  product: {
    slug: 'gift-card',
    name: 'Gift Card',
    description:
      'For a friend whose taste you trust more than your guess. It arrives by mail on the day you choose, with a few words of yours, and is good for everything in the shop: all at once, or a mug at a time.',
  },
  variants: [2_500, 5_000, 10_000].map((price_cents) => ({
    sku: `DEMO-GIFT-${price_cents / 100}`,
    label: `$${price_cents / 100}`,
    options: [amount(`$${price_cents / 100}`)],
    price_cents,
    gift_card: true,
  })),
  motif: 'envelope',
  palette: { ...SEA, accent: '#d98b5f' },
  alt: 'A sea-green card with a ribbon, half out of its envelope',
  beside: 'mug',
  prop: 'sprig',
}

export const SAMPLE_COLLECTIONS = [
  {
    slug: 'tableware',
    title: 'Tableware',
    description: 'Stoneware for every day, made by hand.',
    products: ['harbour-mug', 'tide-bowl', 'everyday-plates', 'fern-teapot', 'dusk-vase'],
  },
  {
    slug: 'living',
    title: 'Living',
    description: 'Light, wool and linen for the long evenings.',
    products: ['reading-lamp', 'wool-blanket', 'linen-cushion', 'cedar-candle', 'dusk-vase'],
  },
  {
    slug: 'pantry',
    title: 'Pantry',
    description: 'Good things to eat and drink, from people we know.',
    products: ['house-coffee', 'garden-tea', 'heather-honey', 'sea-salt-chocolate'],
  },
] as const
