import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { addSample, uploadDrawing } from '../harness/sample-products.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { placeOrder } from './setup.ts'

interface Variant {
  id: string
  sku: string
  image_asset_ref: string | null
}

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
})

const shopper = () => openShopper(shop.url, 'demo.localhost')
const fileOf = ({ image_asset_ref: ref }: Pick<Variant, 'image_asset_ref'>) =>
  ref?.split('/').at(-1) ?? ''

const productOf = async (slug: string) => {
  const { body } = await shop.anyone.get(`/v1/tenants/demo/catalog/products/${slug}`)
  return body.product as { image_asset_ref: string; variants: Variant[] }
}

const variantOf = async (slug: string, sku: string): Promise<Variant> => {
  const found = (await productOf(slug)).variants.find((each) => each.sku === sku)
  assert.ok(found, sku)
  return found
}

/** The files of the images of a part of a page. */
const filesIn = (text: string) =>
  [...text.matchAll(/<img [^>]*?src="[^"]*\/assets\/([0-9a-f]{64}\.\w+)/g)].map(([, file]) => file)

const part = (text: string, begin: RegExp, end: RegExp) => {
  const from = text.slice(text.search(begin))
  return from.slice(0, from.search(end))
}

describe('the picture of a variant', () => {
  test('exists for every variant of the demo, and differs by colour', async () => {
    const { body } = await shop.anyone.get('/v1/tenants/demo/catalog/products')
    const products = body.products as { slug: string; variants: Variant[] }[]
    for (const { slug, variants } of products) {
      for (const each of variants) assert.ok(each.image_asset_ref, `${slug} ${each.sku}`)
    }
    const mugs = ['DEMO-MUG-CLAY', 'DEMO-MUG-SEA', 'DEMO-MUG-CHALK']
    const files = await Promise.all(mugs.map((sku) => variantOf('harbour-mug', sku)))
    assert.equal(new Set(files.map(fileOf)).size, 3)
  })

  test('comes first on the page that names the variant, and also if the variant is preselected', async () => {
    const sea = await variantOf('harbour-mug', 'DEMO-MUG-SEA')
    const first = async (path: string) => {
      const { text } = await shopper().get(path)
      return filesIn(part(text, /<ul class="slides"/, /<\/ul>/))[0]
    }
    assert.equal(await first(`/products/harbour-mug?variant=${sea.id}`), fileOf(sea))
    const merchant = await shop.merchant('demo')
    const [red, green] = [
      await uploadDrawing(merchant, [400, 400], 10),
      await uploadDrawing(merchant, [400, 400], 120),
    ]
    await addSample(merchant, {
      slug: 'scarf',
      name: 'Scarf',
      images: [red, green],
      variants: [
        { sku: 'SCARF-RED', price_cents: 900, label: 'Red', image_asset_ref: red },
        { sku: 'SCARF-GREEN', price_cents: 900, label: 'Green', image_asset_ref: green },
      ],
      soldOut: ['SCARF-RED'],
    })
    assert.equal(await first('/products/scarf'), green.split('/').at(-1))
  })

  test('is shown in the cart, the drawer, the checkout, the order and the list of orders', async () => {
    const [sea, chalk] = [
      await variantOf('harbour-mug', 'DEMO-MUG-SEA'),
      await variantOf('harbour-mug', 'DEMO-MUG-CHALK'),
    ]
    const both = [fileOf(sea), fileOf(chalk)]
    const buyer = shopper()
    await buyer.post('/cart/add', { variant: sea.id, quantity: '1' })
    const form = { variant: chalk.id, quantity: '1' }
    const drawer = await buyer.post('/cart/add', form, { 'x-storefront-script': '1' })
    assert.deepEqual(filesIn(part(drawer.text, /drawer-lines/, /<\/ul>/)), both)
    const cart = await buyer.get('/cart')
    assert.deepEqual(filesIn(part(cart.text, /<ul class="lines"/, /<\/ul>/)), both)
    // The line leads to the choice that was made, and its picture says what it shows.
    assert.ok(cart.text.includes(`href="/products/harbour-mug?variant=${sea.id}"`))
    assert.match(cart.text, /alt="The same mug in sea green"/)
    const checkout = await buyer.get('/checkout')
    assert.deepEqual(filesIn(part(checkout.text, /<ul class="lines lines-small"/, /<\/ul>/)), both)
    const order = await buyer.get(await placeOrder(buyer))
    assert.deepEqual(filesIn(part(order.text, /lines-pictured/, /<\/ul>/)), both)
    const orders = await buyer.get('/orders')
    assert.deepEqual(filesIn(part(orders.text, /order-card-images/, /<\/a>/)), both)
  })
})

describe('the choice of a colour', () => {
  test('shows the picture of each variant, beside its name', async () => {
    const { text } = await shopper().get('/products/harbour-mug')
    const colours = part(text, /aria-label="Colour"/, /<\/ul>/)
    const skus = ['DEMO-MUG-CLAY', 'DEMO-MUG-SEA', 'DEMO-MUG-CHALK']
    const files = await Promise.all(skus.map((sku) => variantOf('harbour-mug', sku)))
    assert.deepEqual(filesIn(colours), files.map(fileOf))
    assert.match(colours, /<img class="swatch"[^>]* alt=""[^>]*><span class="choice-text">Sea</)
    assert.doesNotMatch(part(text, /aria-label="Set"/, /<\/ul>/), /class="swatch"/)
  })

  test('shows the colours themselves if the variants have no pictures, in any language', async () => {
    const merchant = await shop.merchant('demo')
    const made = (slug: string, name: string, values: readonly string[]) =>
      addSample(merchant, {
        slug,
        name: slug,
        variants: values.map((value) => ({
          sku: `${slug}-${value}`.toUpperCase().replaceAll(/[^A-Z-]/g, 'X'),
          price_cents: 900,
          options: [{ name, value }],
        })),
      })
    await made('ribbon', 'Farbe', ['Weiß', 'Dunkel Rot'])
    await made('rope', 'Color', ['White', 'Storm'])
    await made('cord', 'Length', ['Red', 'Blue'])
    const choices = async (slug: string) =>
      part((await shopper().get(`/products/${slug}`)).text, /class="variant-choices"/, /<\/ul>/)
    const ribbon = await choices('ribbon')
    assert.deepEqual(
      [...ribbon.matchAll(/fill="(#\w+)"/g)].map(([, colour]) => colour),
      ['#ffffff', '#cc2b2b'],
    )
    // One that no table knows leaves all of them words, and so does an option that is no colour.
    assert.doesNotMatch(await choices('rope'), /swatch/)
    assert.doesNotMatch(await choices('cord'), /swatch/)
  })
})
