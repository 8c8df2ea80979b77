import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import { COUNTRIES, ruleOf } from '../../manifest/countries.ts'
import { REGIONS } from '../../manifest/regions.ts'
import { until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper, type Seen } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'
import { DETAILS, GOOD_CARD } from './setup.ts'

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
})

const withCart = () => setup.withCart(shop, 'cedar-candle')

/** The countries that a page lists, as codes. */
function countriesOf({ text }: Seen): string[] {
  const [, options = ''] = /<select id="field-country"[^>]*>([\s\S]*?)<\/select>/.exec(text) ?? []
  return [...options.matchAll(/value="(\w*)"/g)].map(([, code = '']) => code)
}

/** Publishes the demo store's site with other settings, for one test. */
async function withSite(t: TestContext, store: object, shipping: object) {
  const merchant = await shop.merchant('demo')
  const { body } = await merchant.get('/v1/my/site')
  const { manifest, version } = body.active
  const shopper = openShopper(shop.url, 'demo.localhost')
  const isShown = async () => (await shopper.get('/')).text.includes('<title>Changed</title>')
  const changed = {
    ...manifest,
    seo: { title: 'Changed' },
    store: { ...manifest.store, ...store },
    behavior: { ...manifest.behavior, shipping: { ...manifest.behavior.shipping, ...shipping } },
  }
  t.after(async () => {
    await merchant.post('/v1/my/site/publish', { version })
    await until('the site is as before', async () => !(await isShown()))
  })
  const { status, text } = await merchant.put('/v1/my/store/manifest', { manifest: changed })
  assert.equal(status, 200, text)
  await until('the change is shown', isShown)
}

describe('the rules of addresses', () => {
  test('have an example that fits its pattern, and no region code twice', () => {
    for (const country of COUNTRIES) {
      const { pattern, example } = ruleOf(country).postcode ?? { pattern: null, example: null }
      if (pattern !== null) assert.match(example ?? '', new RegExp(`^(?:${pattern})$`), country)
    }
    for (const regions of Object.values(REGIONS)) {
      assert.equal(new Set(regions.map(({ code }) => code)).size, regions.length)
    }
  })

  test('name each part once, and regions only of countries that are listed', () => {
    for (const country of [...COUNTRIES, 'toString']) {
      assert.deepEqual([...ruleOf(country).order].sort(), ['city', 'postal_code', 'state'])
    }
    for (const country of Object.keys(REGIONS)) assert.ok(COUNTRIES.includes(country))
  })
})

describe('the countries of a checkout', () => {
  test("are all countries, with the store's own first and chosen", async () => {
    const seen = await (await withCart()).get('/checkout')
    const codes = countriesOf(seen)
    assert.deepEqual([codes.length, codes[0], codes[1]], [COUNTRIES.length, 'US', 'AF'])
    assert.match(seen.text, /<option value="US" selected>United States<\/option>/)
    assert.match(seen.text, /<option value="DE">Germany<\/option>/)
  })

  test('have the country of the manifest first and chosen, whatever its language', async (t) => {
    await withSite(t, { country: 'PT' }, {})
    const seen = await (await withCart()).get('/checkout')
    const codes = countriesOf(seen)
    assert.deepEqual([codes.length, codes[0], codes[1]], [COUNTRIES.length, 'PT', 'AF'])
    assert.match(seen.text, /<option value="PT" selected>Portugal<\/option>/)
  })

  test('are those that the store ships to, in the language of the page', async (t) => {
    await withSite(t, { language: 'de-DE' }, { countries: ['AT', 'DE', 'CH', 'XX'] })
    const shopper = await withCart()
    const seen = await shopper.get('/checkout')
    assert.deepEqual(countriesOf(seen), ['AT', 'DE', 'CH'])
    assert.match(seen.text, />Österreich<[\s\S]+>Deutschland<[\s\S]+>Schweiz</)
  })

  test('refuse another country in the form, and a country that the store has dropped since', async (t) => {
    const shopper = await withCart()
    const key = (await shopper.get('/checkout')).field('key')
    for (const country of ['XX', 'Germany', '<script>']) {
      const { text } = await shopper.follow('/checkout', { ...DETAILS, ...GOOD_CARD, key, country })
      assert.match(text, /id="country-error">We do not ship to this country/)
    }
    const none = await shopper.follow('/checkout', { ...DETAILS, ...GOOD_CARD, key, country: '' })
    assert.match(none.text, /id="country-error">Choose a country/)
    await withSite(t, {}, { countries: ['DE'] })
    const { text } = await shopper.follow('/checkout', { ...DETAILS, ...GOOD_CARD, key })
    assert.match(text, /We do not ship to this country/)
    assert.match(text, /value="ada@example.com"/)
  })
})

describe('an address', () => {
  /** The page that comes back for an address, and what it says at each field. */
  async function errorsOf(address: Record<string, string>) {
    const shopper = await withCart()
    const key = (await shopper.get('/checkout')).field('key')
    // Without a card nothing is bought, whatever the address.
    const { text } = await shopper.follow('/checkout', { ...DETAILS, ...address, key })
    const errors = [...text.matchAll(/id="(\w+)-error">([^<]*)/g)]
    return { text, errors: Object.fromEntries(errors.map(([, name, message]) => [name, message])) }
  }

  test('needs the postcode and the region of its country, and the form then asks for them', async () => {
    const { text, errors } = await errorsOf({ country: 'US', postal_code: '', state: '' })
    assert.equal(errors.state, 'Please fill in this field.')
    assert.equal(errors.postal_code, 'Please fill in this field.')
    assert.match(text, /data-part="state"><span>State<\/span><select[\s\S]+>California</)
    assert.match(text, /data-part="city"[\s\S]+data-part="state"[\s\S]+data-part="postal_code"/)
  })

  test('has its postcode in the format of its country', async () => {
    for (const [country, wrong, right] of [
      ['US', 'SW1Y 4JH', '94103-1234'],
      ['GB', '94103', 'sw1y4jh'],
      ['DE', '1011', '10115'],
      ['NL', '1012', '1012js'],
      ['CA', '12345', 'm5v2t6'],
      ['IN', '012345', '110001'],
    ] as const) {
      const { errors } = await errorsOf({ country, postal_code: wrong, state: 'CA' })
      assert.match(errors.postal_code ?? '', /should look like/, country)
      const fine = await errorsOf({ country, postal_code: right, state: 'CA' })
      assert.equal(fine.errors.postal_code, undefined, country)
    }
  })

  test("has its postcode as the country's post office writes it, however it was typed", async () => {
    for (const [country, typed, written] of [
      ['GB', 'sw1y4jh', 'SW1Y 4JH'],
      ['NL', '1012js', '1012 JS'],
      ['CA', 'm5v2t6', 'M5V 2T6'],
      ['JP', '1000001', '100-0001'],
      ['US', '941031234', '941031234'],
    ] as const) {
      const { text } = await errorsOf({ country, postal_code: typed })
      assert.match(text, new RegExp(`name="postal_code"[^>]* value="${written}"`), country)
    }
  })

  test('names its parts as its country does', async () => {
    for (const [country, city, region] of [
      ['GB', 'Town or city', null],
      ['AU', 'Suburb', 'State'],
      ['IE', 'Town or city', 'County (optional)'],
      ['JP', 'City', 'Prefecture'],
    ] as const) {
      const { text } = await errorsOf({ country, postal_code: '' })
      assert.ok(text.includes(`data-part="city"><span>${city}<`), country)
      assert.equal(text.includes('data-part="state" hidden'), region === null, country)
      if (region !== null) assert.ok(text.includes(`data-part="state"><span>${region}<`), country)
    }
  })

  test('an address of Germany has its postcode before the city, and neither asks for a region nor sends one', async () => {
    const { text, errors } = await errorsOf({ country: 'DE', postal_code: '10115', state: 'CA' })
    assert.deepEqual(Object.keys(errors), ['number'])
    assert.match(text, /data-part="postal_code"[\s\S]+data-part="city"/)
    assert.match(text, /data-part="state" hidden>[\s\S]*?<input[^>]* value=""[^>]* disabled/)
  })

  test('names its region from the list of its country', async () => {
    const { errors } = await errorsOf({ country: 'IT', postal_code: '00184', state: 'California' })
    assert.ok(errors.state)
    const fine = await errorsOf({ country: 'IT', postal_code: '00184', state: 'RM' })
    assert.equal(fine.errors.state, undefined)
    assert.match(fine.text, /<option value="RM" selected>Roma</)
  })

  test('tells browsers which part of an address each field is', async () => {
    const { text } = await (await withCart()).get('/checkout')
    for (const [name, token] of [
      ['email', 'email'],
      ['name', 'shipping name'],
      ['line1', 'shipping address-line1'],
      ['line2', 'shipping address-line2'],
      ['city', 'shipping address-level2'],
      ['state', 'shipping address-level1'],
      ['postal_code', 'shipping postal-code'],
      ['country', 'shipping country'],
    ]) {
      assert.match(text, new RegExp(`name="${name}"[^>]* autocomplete="${token}"`), name)
    }
  })
})
