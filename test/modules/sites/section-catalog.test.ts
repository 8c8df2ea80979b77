import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { BEHAVIOR_PROPS, BRAND_PROPS } from '../../../manifest/behavior-props.ts'
import type { Prop, Props } from '../../../manifest/prop.ts'
import { listFaults, readProps } from '../../../manifest/read-props.ts'
import { SECTION_TYPES, type SectionType } from '../../../manifest/section-types.ts'
import { THEME_TOKENS } from '../../../manifest/theme-tokens.ts'
import { openTestApp } from '../../harness/app.ts'
import { share } from '../../harness/scope.ts'
import { DRAFT } from './setup.ts'

const TYPES = Object.entries<SectionType>(SECTION_TYPES)
const SECTIONS = '/v1/sections'

describe('GET /v1/sections', () => {
  const shared = share((scope) => openTestApp(scope))

  test('lists every type with its props, defaults, limits, example and picture', async () => {
    const app = shared.current
    const { status, body, headers } = await app.anyone.get(SECTIONS)
    assert.equal(status, 200)
    assert.equal(headers['cache-control'], 'public, max-age=3600')
    assert.deepEqual(
      body.sections.map(({ type }: { type: string }) => type),
      Object.keys(SECTION_TYPES),
    )
    const grid = body.sections.find(({ type }: { type: string }) => type === 'product-grid')
    assert.deepEqual(grid.props.columns, {
      kind: 'integer',
      meaning: 'How many stand side by side on a wide screen.',
      required: false,
      default: 4,
      min: 1,
      max: 6,
    })
    const faq = body.sections.find(({ type }: { type: string }) => type === 'faq')
    const { count_max, entry_kind, props } = faq.props.items
    assert.deepEqual([count_max, entry_kind, props.question.length_max], [60, 'object', 500])
    assert.deepEqual(body.theme.layout.hero.choices, ['split', 'cover', 'poster'])
    for (const { picture } of body.sections) {
      assert.match(picture, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox=.*<\/svg>$/)
      assert.doesNotMatch(picture, /NaN|undefined/)
    }
  })

  test('answers 304 to a reader that has it already', async () => {
    const app = shared.current
    const { headers } = await app.anyone.get(SECTIONS)
    const again = await app.as({ 'if-none-match': String(headers.etag) }).get(SECTIONS)
    assert.deepEqual([again.status, again.text], [304, ''])
    const other = await app.as({ 'if-none-match': '"other"' }).get(SECTIONS)
    assert.equal(other.status, 200)
  })

  test('has examples that can be saved as they are, without a warning', async () => {
    const app = shared.current
    const acme = await app.merchant('acme')
    const { body } = await app.anyone.get(SECTIONS)
    const sections = body.sections.map(({ type, example: props }: Record<string, unknown>) => ({
      type,
      props,
    }))
    const saved = await acme.put(DRAFT, { manifest: { template: { id: 'home', sections } } })
    assert.deepEqual([saved.status, saved.body.warnings], [200, []])
  })
})

const ALL: readonly Props[] = [
  ...TYPES.map(([, { props }]) => props),
  ...Object.values<Props>(THEME_TOKENS),
  BEHAVIOR_PROPS,
  BRAND_PROPS,
]

/** Values near the limits of a prop, right and wrong ones. */
function valuesOf(prop: Prop): fc.Arbitrary<unknown> {
  const any = fc.constantFrom<unknown>(undefined, null, '', ' ', true, 1.5, {}, [], { toString: 1 })
  switch (prop.kind) {
    case 'integer':
    case 'number':
      return fc.oneof(
        any,
        fc.integer({ min: Math.floor(prop.min) - 1, max: Math.ceil(prop.max) + 1 }),
        fc.double(),
      )
    case 'whole':
    case 'cents':
      return fc.oneof(any, fc.integer({ min: -1, max: prop.max + 1 }))
    case 'choice':
      return fc.oneof(any, fc.constantFrom(...prop.choices))
    case 'switch':
      return any
    case 'object':
      return fc.oneof(any, objectOf(prop.props))
    case 'list':
      return fc.oneof(any, fc.array(valuesOf(prop.of), { maxLength: 5 }))
    default:
      return fc.oneof(
        any,
        fc.string({ unit: 'grapheme', maxLength: 30 }),
        fc.constant('x'.repeat(prop.lengthMax + 1)),
        fc.constantFrom('/a', 'https://a.example/', '#abc', 'a-b', '12px', 'a@b.example'),
      )
  }
}

const objectOf = (props: Props): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(Object.fromEntries(Object.entries(props).map(([name, prop]) => [name, valuesOf(prop)])))

/** The same value without members that are missing, blank or empty, and without blank texts in lists. */
const filled = (value: unknown): unknown => JSON.parse(JSON.stringify(value), dropBlank) ?? {}
function dropBlank(this: unknown, _name: string, given: unknown) {
  const value = Array.isArray(given)
    ? given.filter((each) => each === null || !isBlank(each))
    : given
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return (isBlank(value) || isEmpty) && !Array.isArray(this) ? undefined : value
}

const isBlank = (value: unknown) =>
  value === null || (typeof value === 'string' && value.trim() === '')

test('a value without a warning is shown unchanged, and any other within its limits', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ALL).chain((props) => fc.tuple(fc.constant(props), objectOf(props))),
      ([props, value]) => {
        const read = readProps(props, value)
        // What is read is always free of faults, except for what is missing.
        const left = listFaults(props, filled(read) as Record<string, unknown>, 99)
        assert.deepEqual(
          left.filter(({ message }) => message !== 'is missing'),
          [],
        )
        if (listFaults(props, value, 99).length > 0) return
        const given = filled(value) as Record<string, unknown>
        assert.deepEqual({ ...(filled(read) as object), ...given }, filled(read))
      },
    ),
    { numRuns: 500 },
  )
})
