import assert from 'node:assert/strict'
import sharp from 'sharp'
import { stock } from '../modules/checkout/setup.ts'
import type { Caller } from './app.ts'

/** Products of every kind that a product page shows, made by a merchant. */

const DRAWING = (width: number, height: number, hue: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="hsl(${hue} 30% 88%)"/><ellipse cx="50%" cy="58%" rx="24%" ry="32%" fill="hsl(${hue} 35% 45%)"/><rect x="42%" y="12%" width="16%" height="22%" fill="hsl(${hue} 35% 38%)"/><ellipse cx="43%" cy="50%" rx="5%" ry="12%" fill="hsl(${hue} 40% 62%)"/></svg>`

/** Uploads a drawing of a vase, of this size and colour. */
export async function uploadDrawing(
  merchant: Caller,
  [width, height]: readonly [number, number],
  hue: number,
): Promise<string> {
  const data = await sharp(Buffer.from(DRAWING(width, height, hue)))
    .resize(width, height)
    .jpeg({ quality: 80 })
    .toBuffer()
  const body = { content_type: 'image/jpeg', data_base64: data.toString('base64') }
  const answer = await merchant.post('/v1/merchant/media', body)
  assert.ok(answer.status < 300, answer.text)
  return answer.body.asset.asset_ref
}

export interface SampleVariant {
  sku: string
  price_cents: number
  [member: string]: unknown
}

export interface SampleProduct {
  slug: string
  name: string
  description?: string
  images?: readonly string[]
  variants: readonly SampleVariant[]
  /** SKUs of which none is left. */
  soldOut?: readonly string[]
}

/** Adds a product. Returns its id, and the ids of its variants by their SKUs. */
export async function addSample(merchant: Caller, sample: SampleProduct) {
  const { images = [], variants, soldOut = [], ...product } = sample
  const made = await merchant.post('/v1/merchant/catalog/products', product)
  assert.equal(made.status, 201, made.text)
  const { id } = made.body.product as { id: string }
  const path = `/v1/merchant/catalog/products/${id}`
  const list = { images: images.map((asset_ref) => ({ asset_ref })) }
  assert.equal((await merchant.put(`${path}/images`, list)).status, 200)
  const ids: Record<string, string> = {}
  for (const variant of variants) {
    const answer = await merchant.post(`${path}/variants`, variant)
    assert.equal(answer.status, 201, answer.text)
    ids[variant.sku] = answer.body.variant.id
  }
  for (const sku of soldOut) await stock(merchant, ids[sku] ?? '', 0)
  return { id, ids }
}

const SQUARE = [1_200, 1_200] as const
const LANDSCAPE = [1_200, 800] as const
const PORTRAIT = [800, 1_600] as const

const option = (name: string, value: string) => ({ name, value })

/** A shirt: large is not made in blue, and the small blue one is sold out. */
function shirt(sand: string, blue: string): SampleProduct {
  const made = (size: string, colour: string, more: object = {}): SampleVariant => ({
    sku: `SHIRT-${size}-${colour}`.toUpperCase(),
    price_cents: 6_900,
    label: `${size} / ${colour}`,
    options: [option('Size', size), option('Colour', colour)],
    image_asset_ref: colour === 'Sand' ? sand : blue,
    ...more,
  })
  return {
    slug: 'shirt',
    name: 'Linen shirt',
    description: 'Washed linen, cut straight. It softens with every wash.',
    images: [sand, blue],
    variants: [
      made('S', 'Sand'),
      made('M', 'Sand'),
      made('L', 'Sand', { price_cents: 7_400 }),
      made('S', 'Blue'),
      made('M', 'Blue', { compare_at_price_cents: 8_900 }),
    ],
    soldOut: ['SHIRT-S-BLUE'],
  }
}

/** Adds one product of each kind, and returns them by their slugs. */
export async function addSamples(merchant: Caller) {
  const draw = (size: readonly [number, number], hue: number) => uploadDrawing(merchant, size, hue)
  const single = (sku: string, price_cents: number, more: object = {}) => [
    { sku, price_cents, ...more },
  ]
  const five = [
    await draw(SQUARE, 20),
    await draw(LANDSCAPE, 80),
    await draw(SQUARE, 140),
    await draw(PORTRAIT, 200),
    await draw(LANDSCAPE, 260),
  ]
  const description =
    'Thrown by hand in a small workshop and fired twice. No two are alike.\n\nDishwasher safe.'
  const samples: SampleProduct[] = [
    {
      slug: 'one',
      name: 'Moon vase',
      description,
      images: [await draw(SQUARE, 40)],
      variants: single('ONE', 4_800),
    },
    {
      slug: 'five',
      name: 'Tall harbour vase',
      description,
      images: five,
      variants: single('FIVE', 12_900),
    },
    {
      slug: 'portrait',
      name: 'Portrait',
      description,
      images: [await draw(PORTRAIT, 320), await draw(PORTRAIT, 350)],
      variants: single('PORTRAIT', 2_000),
    },
    { slug: 'bare', name: 'Without an image', description, variants: single('BARE', 2_000) },
    shirt(await draw(PORTRAIT, 45), await draw(SQUARE, 215)),
    {
      slug: 'gone',
      name: 'Sold out bowl',
      description,
      images: [await draw(LANDSCAPE, 100)],
      variants: single('GONE', 3_300),
      soldOut: ['GONE'],
    },
    {
      slug: 'labels',
      name: 'Roasted coffee',
      description,
      images: [await draw(SQUARE, 25)],
      variants: [
        { sku: 'COFFEE-S', price_cents: 990, label: '250 g' },
        { sku: 'COFFEE-L', price_cents: 3_290, label: '1 kg', compare_at_price_cents: 3_690 },
      ],
    },
    {
      slug: 'oil',
      name: 'Olive oil',
      description,
      images: [await draw(PORTRAIT, 75)],
      variants: single('OIL', 1_795, {
        compare_at_price_cents: 2_100,
        content_amount: 750,
        content_unit: 'ml',
      }),
    },
  ]
  const added: Record<string, Awaited<ReturnType<typeof addSample>>> = {}
  for (const sample of samples) added[sample.slug] = await addSample(merchant, sample)
  return { added, five }
}
