import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { getLocale } from '../../storefront/translations/locale.ts'
import type { Caller } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import { addSample } from '../harness/sample-products.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { card, DETAILS, variantOf } from './setup.ts'

let shop: TestShop
let merchant: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  merchant = await shop.merchant('demo')
})

const shopper = () => openShopper(shop.url, 'demo.localhost')
const read = async (path: string) => (await shopper().get(path)).text

const cardOf = (text: string, slug: string) =>
  new RegExp(`<li class="card"><a href="/products/${slug}">.*?</li>`, 's').exec(text)?.[0] ?? ''

/** The card of a new product, once the list has it: a list is kept for some seconds. */
async function cardSoon(slug: string): Promise<string> {
  let found = ''
  await until(`${slug} is listed`, async () => {
    found = cardOf(await read('/products'), slug)
    return found !== ''
  })
  return found
}

/** Adds a product whose variant is then sold at other terms. */
async function reduce(slug: string, from: number, patch: object, others: readonly number[] = []) {
  const { id, ids } = await addSample(merchant, {
    slug,
    name: slug,
    variants: [
      { sku: `${slug}-1`, price_cents: from, label: 'One' },
      ...others.map((price_cents, at) => ({ sku: `${slug}-x${at}`, price_cents, label: `X${at}` })),
    ],
  })
  const path = `/v1/merchant/catalog/products/${id}/variants/${ids[`${slug}-1`]}`
  const answer = await merchant.patch(path, patch)
  assert.equal(answer.status, 200, answer.text)
  return ids[`${slug}-1`] ?? ''
}

describe('a sale', () => {
  test('is shown if the price fell, with the lowest price of the last 30 days', async () => {
    const id = await reduce('fell', 5_000, { price_cents: 4_000, compare_at_price_cents: 5_500 })
    const page = await read(`/products/fell?variant=${id}`)
    assert.match(page, /\$55\.00<\/s> <span data-price>\$40\.00<\/span> <span class="tag">Sale</)
    assert.match(page, /<p class="price-note">Lowest price of the last 30 days: \$50\.00</)
    const shown = await cardSoon('fell')
    assert.match(shown, /<span class="badge">Sale</)
    assert.match(shown, /Lowest price of the last 30 days: \$50\.00/)
  })

  test('is not shown if only the price before was set, or no earlier price is known', async () => {
    await reduce('made-up', 4_000, { compare_at_price_cents: 9_000 })
    const page = await read('/products/made-up')
    assert.match(page, /\$90\.00<\/s> <span data-price>\$40\.00/)
    assert.doesNotMatch(page, /class="tag"/)
    assert.match(page, /Lowest price of the last 30 days: \$40\.00/)
    assert.doesNotMatch(await cardSoon('made-up'), /class="badge"/)
    await addSample(merchant, {
      slug: 'new-here',
      name: 'new-here',
      variants: [{ sku: 'NEW-HERE', price_cents: 100, compare_at_price_cents: 200 }],
    })
    const [fresh = ''] = /<div id="price".*?<\/div>/s.exec(await read('/products/new-here')) ?? []
    assert.match(fresh, /\$2\.00<\/s>/)
    assert.doesNotMatch(fresh, /class="tag"|Lowest price/)
  })

  test('on a card belongs to the price on that card', async () => {
    await reduce('dear', 9_000, { price_cents: 8_000, compare_at_price_cents: 9_000 }, [1_000])
    const dear = await cardSoon('dear')
    assert.match(dear, /from \$10\.00/)
    assert.doesNotMatch(dear, /class="badge"|<s /)
    await reduce('cheap', 900, { price_cents: 800, compare_at_price_cents: 900 }, [5_000])
    const cheap = await cardSoon('cheap')
    assert.match(cheap, /class="badge">Sale<.*\$9\.00<\/s> <span class="card-now">from \$8\.00/s)
  })

  test('a sale of the demo says so, in each language of the storefront', () => {
    for (const [language, said] of Object.entries({
      en: 'Lowest price of the last 30 days: x',
      de: 'Niedrigster Preis der letzten 30 Tage: x',
      fr: 'Prix le plus bas des 30 derniers jours : x',
      es: 'Precio más bajo de los últimos 30 días: x',
    })) {
      assert.equal(getLocale(language, 'UTC').texts.buying.lowestPrice({ price: 'x' }), said)
    }
  })
})

describe('gift cards in a cart', () => {
  test('do not count towards free shipping, and the hint says so', async () => {
    const buyer = shopper()
    const add = (variant: string) => buyer.follow('/cart/add', { variant, quantity: '1' })
    const alone = await add((await variantOf(shop, 'gift-card')).id)
    assert.doesNotMatch(alone.text, /free shipping/)
    const mixed = await add((await variantOf(shop, 'cedar-candle')).id)
    assert.match(
      mixed.text,
      /Add \$32\.00 more to get free shipping\. Gift cards do not count towards it\./,
    )
    const goods = shopper()
    await goods.follow('/cart/add', {
      variant: (await variantOf(shop, 'cedar-candle')).id,
      quantity: '1',
    })
    assert.doesNotMatch((await goods.get('/cart')).text, /Gift cards do not count/)
  })

  test('are not offered to a balance that cannot pay for them, and no line says minus zero', async () => {
    const wanted = { initial_balance_cents: 5_000 }
    const made = await merchant.post('/v1/merchant/gift-cards', wanted, {
      'idempotency-key': 'a-gift-card-for-the-cart',
    })
    assert.ok(made.body.code, made.text)
    const buyer = shopper()
    await buyer.post('/cart/add', {
      variant: (await variantOf(shop, 'gift-card')).id,
      quantity: '1',
    })
    const page = await buyer.get('/checkout')
    assert.match(page.text, /Gift cards cannot be paid for with a gift card/)
    assert.doesNotMatch(page.text, /name="gift"/)
    const form = { email: DETAILS.email, gift: made.body.code, ...card('') }
    const forced = await buyer.post('/checkout/update', form)
    assert.doesNotMatch(forced.text, /−\$0\.00/)
    assert.match(forced.text, /Pay \$25\.00/)
  })
})

describe('a store that is written from right to left', () => {
  test('is mirrored whole: only if its texts are translated, or it says that they are its own', async () => {
    for (const [store, dir] of [
      [{ language: 'ar' }, 'ltr'],
      [{ language: 'ar', direction: 'rtl' }, 'rtl'],
      [{ language: 'de', direction: 'sideways' }, 'ltr'],
      [{ language: 'en' }, 'ltr'],
    ] as const) {
      const { manifest } = (await merchant.get('/v1/my/site')).body.active
      const put = await merchant.put('/v1/my/store/manifest', { manifest: { ...manifest, store } })
      assert.equal(put.status, 200)
      const begin = `<html lang="${store.language}" dir="${dir}"`
      await until(begin, async () => (await read('/cart')).includes(begin))
      const isTurned = store.language === 'ar'
      assert.equal((await read('/cart')).includes(' data-bidi'), isTurned)
    }
  })

  test('keeps the sign of a currency beside its letters, and the parts of a date in their order', () => {
    const { formatMoney, formatDay, formatDate, formatTime, formatDays } = getLocale('ar', 'UTC')
    for (const [currency, sign] of [
      ['USD', 'US$'],
      ['GBP', 'UK£'],
    ] as const) {
      assert.ok(formatMoney(1_800, currency).includes(`\u2068${sign}\u2069`), currency)
    }
    const dates = [formatDay, formatDate, formatTime].map((write) => write('2026-12-19T10:00:00Z'))
    for (const text of [...dates, formatDays('2026-12-19', '2026-12-21')]) {
      assert.match(text, /^\u2068[^\u2068\u2069]+\u2069$/)
    }
    assert.equal(getLocale('de', 'UTC').formatDay('2026-12-19'), '19. Dezember 2026')
  })

  test('keeps each price in one piece, whatever stands beside it', () => {
    for (const language of ['ar', 'he', 'fa', 'ur']) {
      assert.match(getLocale(language, 'UTC').formatMoney(1_234, 'USD'), /^\u2068.+\u2069$/s)
    }
    assert.equal(getLocale('de', 'UTC').formatMoney(1_234, 'EUR'), '12,34\u00a0€')
  })
})
