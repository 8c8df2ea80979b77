import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
})

const shopper = () => openShopper(shop.url, 'demo.localhost')

describe('the newsletter of a store', () => {
  test('is requested on the home page, and the next page says what comes next', async () => {
    const ann = shopper()
    assert.match((await ann.get('/')).text, /<form class="newsletter" method="post"/)
    const sent = await ann.follow('/newsletter', { email: 'ann@example.com' })
    assert.match(sent.text, /Please look into your mail/)
    const list = '/v1/merchant/marketing/subscribers'
    const { subscribers } = (await (await shop.merchant('demo')).get(list)).body
    assert.deepEqual(
      subscribers.map(({ email, status, source }: Record<string, string>) => [
        email,
        status,
        source,
      ]),
      [['ann@example.com', 'pending', 'storefront']],
    )
  })

  test('shows again the invalid address, and says when it was requested too often', async () => {
    const bob = shopper()
    const wrong = await bob.follow('/newsletter', { email: 'bob <b>' })
    assert.equal(wrong.status, 422)
    assert.match(wrong.text, /role="alert".*value="bob &lt;b&gt;"/s)
    let last = wrong
    for (let n = 0; n < 6; n++)
      last = await bob.follow('/newsletter', { email: `b${n}@example.com` })
    assert.match(last.text, /Please try again in a minute/)
  })
})
