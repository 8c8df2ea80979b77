import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Product, Variant } from '../../storefront/api/types.ts'
import { choiceGroups, chooseVariant } from '../../storefront/catalog/product-options.ts'

const SIZES = ['S', 'M', 'L']
const COLOURS = ['Sand', 'Blue', 'Red']

type Made = [size: string, colour: string, available?: boolean]

const variant = ([size, colour, available = true]: Made): Variant => ({
  id: `${size}-${colour}`,
  product_id: 'p',
  sku: `${size}-${colour}`,
  label: `${size} / ${colour}`,
  options: [
    { name: 'Size', value: size },
    { name: 'Colour', value: colour },
  ],
  image_asset_ref: null,
  price_cents: 100,
  compare_at_price_cents: null,
  lowest_price_30_days_cents: null,
  currency: 'EUR',
  content_amount: null,
  content_unit: null,
  gift_card: false,
  available,
  low_stock: false,
  available_units: null,
})

const product = (variants: readonly Variant[], option_names = ['Size', 'Colour']) =>
  ({ variants, option_names }) as unknown as Product

const shirt = product([
  variant(['S', 'Sand']),
  variant(['M', 'Sand']),
  variant(['L', 'Sand']),
  variant(['S', 'Blue', false]),
  variant(['M', 'Blue']),
])

/** Each group as lines of text: what it leads to, and what it says. */
const shown = (from: Product, id: string) => {
  const chosen = from.variants.find((each) => each.id === id)
  assert.ok(chosen)
  return choiceGroups(from, chosen).map(({ name, choices }) => [
    name,
    ...choices.map(
      (each) =>
        `${each.text} to ${each.variant.id}${each.isChosen ? ' chosen' : ''}${each.notWith.length > 0 ? ` not with ${each.notWith}` : ''}`,
    ),
  ])
}

describe('the options of a product', () => {
  test('lead to the variant with one value changed, or to the nearest existing one', () => {
    assert.deepEqual(shown(shirt, 'M-Blue'), [
      ['Size', 'S to S-Blue', 'M to M-Blue chosen', 'L to L-Sand not with Blue'],
      ['Colour', 'Sand to M-Sand', 'Blue to M-Blue chosen'],
    ])
    assert.deepEqual(shown(shirt, 'L-Sand')[1], [
      'Colour',
      'Sand to L-Sand chosen',
      'Blue to M-Blue not with L',
    ])
  })

  test('are one list of labels if a variant lacks one of them', () => {
    const bare = { ...variant(['S', 'Red']), options: [], label: null }
    const mixed = product([...shirt.variants.slice(0, 1), bare])
    assert.deepEqual(shown(mixed, 'S-Sand'), [
      [null, 'S / Sand to S-Sand chosen', 'S-Red to S-Red'],
    ])
    assert.deepEqual(shown(product(shirt.variants.slice(0, 2), []), 'S-Sand')[0]?.[0], null)
  })

  test('are not shown for a single variant', () => {
    assert.deepEqual(shown(product(shirt.variants.slice(0, 1)), 'S-Sand'), [])
  })

  test('begin with a variant that can be bought', () => {
    const first = variant(['S', 'Sand', false])
    assert.equal(chooseVariant(product([first, variant(['M', 'Sand'])]))?.id, 'M-Sand')
    assert.equal(chooseVariant(product([first]))?.id, 'S-Sand')
    assert.equal(chooseVariant(product([])), undefined)
  })

  test('reach every variant from every other, and mark just the chosen values', () => {
    const all = SIZES.flatMap((size) => COLOURS.map((colour) => [size, colour] as const))
    const some = fc.subarray(all, { minLength: 2 })
    fc.assert(
      fc.property(some, fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }), (made, stock) => {
        const sold = product(made.map(([a, b], at) => variant([a, b, stock[at] ?? true])))
        for (const from of sold.variants) {
          const groups = choiceGroups(sold, from)
          assert.deepEqual(
            groups.map(({ choices }) => choices.filter((each) => each.isChosen).length),
            groups.map(() => 1),
          )
          for (const to of sold.variants) {
            // One value after the other: the last one chosen always holds.
            let at = from
            for (const { name, value } of [...to.options, ...to.options]) {
              const group = choiceGroups(sold, at).find((each) => each.name === name)
              const choice = group?.choices.find(({ text }) => text === value)
              assert.ok(choice)
              at = choice.variant
              assert.ok(at.options.some((each) => each.name === name && each.value === value))
            }
            assert.equal(at.id, to.id)
          }
        }
      }),
      { numRuns: 60 },
    )
  })
})
