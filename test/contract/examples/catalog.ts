import type { Caller } from '../../harness/app.ts'
import { openShop } from '../../modules/checkout/setup.ts'
import { newAsset } from '../../modules/media/resources.ts'
import { ok } from '../../modules/returns/setup.ts'
import type { MailApp } from '../../modules/shopper-mail/setup.ts'
import type { Recorder } from './record.ts'

const TENANT = 'pottery'
const CATALOG = '/v1/merchant/catalog'

/** A potter puts her first things into the shop, and shows them. */
export async function fillShelves(app: MailApp, recorder: Recorder): Promise<void> {
  const operator = recorder.recorded(app.operator)
  const shop = await openShop(app, TENANT, [])
  const merchant = recorder.recorded(shop.merchant)
  const { asset } = ok(await merchant.post('/v1/merchant/media', newAsset('A blue mug')), 201)
  ok(await merchant.get('/v1/merchant/media?limit=1'))
  ok(await merchant.get(`/v1/merchant/media/${asset.sha256}`))
  ok(await merchant.patch(`/v1/merchant/media/${asset.sha256}`, { alt: 'A blue mug by a window' }))
  const mug = await makeMug(merchant, asset)
  await makeCollection(merchant, mug)
  await showShelves(recorder.recorded(app.anyone))
  ok(await merchant.send('DELETE', `${CATALOG}/products/${mug}/images/${asset.sha256}`))
  ok(await merchant.send('DELETE', `/v1/merchant/media/${asset.sha256}`))
  await askToActivate(merchant, operator)
}

async function makeMug(merchant: Caller, asset: { asset_ref: string }): Promise<string> {
  const named = { slug: 'blue-mug', name: 'Blue mug', description: 'Thrown by hand. 350 ml.' }
  const { product } = ok(await merchant.post(`${CATALOG}/products`, named), 201)
  const url = `${CATALOG}/products/${product.id}`
  const shown = { asset_ref: asset.asset_ref, alt: 'A blue mug' }
  ok(await merchant.post(`${url}/images`, shown), 201)
  ok(await merchant.get(`${url}/images`))
  ok(await merchant.put(`${url}/images`, { images: [shown] }))
  ok(await merchant.put(`${url}/image`, shown))
  const variant = {
    sku: 'MUG-BLUE',
    label: 'Blue',
    options: [{ name: 'Colour', value: 'Blue' }],
    price_cents: 2_400,
    compare_at_price_cents: 2_800,
  }
  ok(await merchant.post(`${url}/variants`, variant), 201)
  const other = { ...variant, sku: 'MUG-RED', label: 'Red', options: [] }
  const made = ok(await merchant.post(`${url}/variants`, other), 201)
  ok(await merchant.patch(`${url}/variants/${made.variant.id}`, { price_cents: 2_600 }))
  ok(await merchant.post(`${url}/variants/${made.variant.id}/archive`))
  ok(await merchant.patch(url, { description: 'Thrown by hand, glazed twice. 350 ml.' }))
  ok(await merchant.get(url))
  ok(await merchant.get(`${CATALOG}/products?limit=1`))
  return product.id
}

async function makeCollection(merchant: Caller, mug: string): Promise<void> {
  const named = { slug: 'tableware', title: 'Tableware', description: 'For every day.' }
  const { collection } = ok(await merchant.post(`${CATALOG}/collections`, named), 201)
  const url = `${CATALOG}/collections/${collection.id}`
  ok(await merchant.put(`${url}/products`, { product_ids: [mug] }))
  ok(await merchant.get(url))
  ok(await merchant.patch(url, { title: 'For the table' }))
  ok(await merchant.get(`${CATALOG}/collections`))
  const unwanted = ok(
    await merchant.post(`${CATALOG}/collections`, { slug: 'old', title: 'Old' }),
    201,
  )
  ok(await merchant.send('DELETE', `${CATALOG}/collections/${unwanted.collection.id}`))
}

async function showShelves(anyone: Caller): Promise<void> {
  const url = `/v1/tenants/${TENANT}/catalog`
  ok(await anyone.get(`${url}/products`))
  ok(await anyone.get(`${url}/products/blue-mug`))
  ok(await anyone.get(`${url}/collections`))
  ok(await anyone.get(`${url}/collections/tableware`))
  ok(await anyone.get(`${url}/search?q=mug`))
  ok(await anyone.get(`${url}/suggestions?q=mu`))
  ok(await anyone.get(`${url}/sitemap`))
}

/** A draft is requested to go live, twice: the operator approves one, and activates the other by hand. */
async function askToActivate(merchant: Caller, operator: Caller): Promise<void> {
  const draft = async (slug: string): Promise<string> => {
    const body = { slug, name: 'Vase', status: 'draft' }
    return ok(await merchant.post(`${CATALOG}/products`, body), 201).product.id
  }
  const vase = await draft('tall-vase')
  const url = `${CATALOG}/products/${vase}`
  const note = { note: 'The pictures are ready.' }
  const { request } = ok(await merchant.post(`${url}/activation-request`, note), 201)
  ok(await operator.get('/v1/catalog/activation-requests?limit=1'))
  const decision = { status: 'approved' }
  ok(await operator.put(`/v1/catalog/activation-requests/${request.id}`, decision))
  const other = `/v1/stores/${TENANT}/products/${await draft('low-vase')}`
  ok(await operator.post(`${other}/activate`))
  ok(await merchant.post(`${url}/archive`))
  ok(await operator.post(`/v1/stores/${TENANT}/products/${vase}/unarchive`))
}
