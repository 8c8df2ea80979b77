import type { Motif, Palette } from './demo-images.ts'
import type { NewProduct, NewVariant } from './schema.ts'

/** Goods for the home: the sample products that a draft store gets on request. */

export interface Sample {
  product: NewProduct
  variants: readonly NewVariant[]
  motif: Motif
  palette: Palette
  alt: string
}

const CLAY = {
  wall: '#efe4d6',
  table: '#d9c3a8',
  light: '#e9c9a8',
  dark: '#a8643c',
  accent: '#f7efe4',
}
const SEA = {
  wall: '#dfe8e6',
  table: '#c2d2cf',
  light: '#9cc3c4',
  dark: '#2f6671',
  accent: '#f3f0e6',
}
const SAND = {
  wall: '#f3ece0',
  table: '#e0d2bb',
  light: '#fbf5ea',
  dark: '#c9b490',
  accent: '#d98b5f',
}
const MOSS = {
  wall: '#e6e9dc',
  table: '#cdd3b9',
  light: '#b7c49a',
  dark: '#5c7047',
  accent: '#f0b667',
}
const DUSK = {
  wall: '#e9dfe6',
  table: '#cfbccb',
  light: '#c8a2b6',
  dark: '#6f4460',
  accent: '#f6d9b0',
}
const NIGHT = {
  wall: '#d8dde6',
  table: '#b4bdcb',
  light: '#7286a6',
  dark: '#26344f',
  accent: '#f2c879',
}

export const SAMPLES: readonly Sample[] = [
  {
    product: {
      slug: 'harbour-mug',
      name: 'Harbour Mug',
      description:
        'Thrown by hand in small batches and glazed the colour of wet clay. It holds 350 ml, keeps its warmth through a second chapter, and has a handle wide enough for three fingers.',
    },
    variants: [
      { sku: 'DEMO-MUG-CLAY', label: 'Clay', price_cents: 2_400 },
      { sku: 'DEMO-MUG-PAIR', label: 'Pair', price_cents: 4_400 },
    ],
    motif: 'mug',
    palette: CLAY,
    alt: 'A clay-coloured mug filled with coffee on a wooden table',
  },
  {
    product: {
      slug: 'tide-bowl',
      name: 'Tide Bowl',
      description:
        'A deep, open bowl for soup, salad or fruit. The glaze pools blue-green at the rim, so no two are quite alike. Safe in the dishwasher and the microwave.',
    },
    variants: [
      { sku: 'DEMO-BOWL-S', label: 'Small, 16 cm', price_cents: 1_900 },
      { sku: 'DEMO-BOWL-L', label: 'Large, 26 cm', price_cents: 3_900 },
    ],
    motif: 'bowl',
    palette: SEA,
    alt: 'A blue-green ceramic bowl',
  },
  {
    product: {
      slug: 'everyday-plates',
      name: 'Everyday Plates',
      description:
        'Four stoneware plates that stack neatly and take whatever a weekday brings. Matt on the outside, smooth where the fork goes.',
    },
    variants: [
      { sku: 'DEMO-PLATE-4', label: 'Set of four', price_cents: 5_600 },
      { sku: 'DEMO-PLATE-8', label: 'Set of eight', price_cents: 10_400 },
    ],
    motif: 'plates',
    palette: SAND,
    alt: 'A stack of four plates in cream and terracotta',
  },
  {
    product: {
      slug: 'fern-teapot',
      name: 'Fern Teapot',
      description:
        'A round-bellied pot for four cups, with a spout that does not drip and a lid that stays on. Comes with a fine steel strainer.',
    },
    variants: [{ sku: 'DEMO-TEAPOT', price_cents: 4_800 }],
    motif: 'teapot',
    palette: MOSS,
    alt: 'A green teapot with an amber knob',
  },
  {
    product: {
      slug: 'dusk-vase',
      name: 'Dusk Vase',
      description:
        'Narrow at the neck and generous below, so that three stems look like a bouquet. Glazed inside and out; 24 cm tall.',
    },
    variants: [{ sku: 'DEMO-VASE', price_cents: 3_600 }],
    motif: 'vase',
    palette: DUSK,
    alt: 'A plum-coloured vase with three flowers',
  },
  {
    product: {
      slug: 'reading-lamp',
      name: 'Reading Lamp',
      description:
        'A linen shade on a slim steel stem, dimmable down to a glow. The cord is two metres of braided cotton with a switch where your hand expects it.',
    },
    variants: [
      { sku: 'DEMO-LAMP-TABLE', label: 'Table', price_cents: 8_900 },
      { sku: 'DEMO-LAMP-FLOOR', label: 'Floor', price_cents: 14_900 },
    ],
    motif: 'lamp',
    palette: NIGHT,
    alt: 'A table lamp with a glowing linen shade',
  },
  {
    product: {
      slug: 'cedar-candle',
      name: 'Cedar Candle',
      description:
        'Rapeseed wax with cedar, bergamot and a little smoke. Burns for about fifty hours; the glass is yours to keep.',
    },
    variants: [{ sku: 'DEMO-CANDLE', price_cents: 2_800 }],
    motif: 'candle',
    palette: SAND,
    alt: 'A lit candle in a cream glass',
  },
  {
    product: {
      slug: 'wool-blanket',
      name: 'Wool Blanket',
      description:
        'Woven from undyed and twice-dyed lambswool, brushed once, and finished with a fringe by hand. Large enough for two and a film.',
    },
    variants: [
      { sku: 'DEMO-BLANKET-M', label: '130 × 180 cm', price_cents: 11_900 },
      { sku: 'DEMO-BLANKET-L', label: '150 × 220 cm', price_cents: 14_900 },
    ],
    motif: 'blanket',
    palette: SEA,
    alt: 'Three folded wool blankets in blue and teal',
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
  },
]

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
