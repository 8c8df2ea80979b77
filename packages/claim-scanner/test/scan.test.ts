import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { anyCharacter } from '../../../test/harness/any-character.ts'
import { FINDINGS_MAX, type Finding, RULE_SEVERITIES, type ScanResult } from '../src/findings.ts'
import { hashRules } from '../src/rules.ts'
import { RULES_VERSION } from '../src/rules-version.ts'
import { scanDocument, scanOneText as scanText } from '../src/scan.ts'
import { CLAIMS } from './corpus/claims.ts'
import { EVASIONS } from './corpus/evasions.ts'

const claims = Object.values(CLAIMS).flat()
const Result = Type.Object({
  passed: Type.Boolean(),
  findings: Type.Array(
    Type.Object({
      path: Type.String(),
      term: Type.String(),
      rule: Type.Enum(Object.keys(RULE_SEVERITIES)),
      severity: Type.Enum(['CRITICAL', 'WARNING', 'INFO']),
      context: Type.String(),
    }),
  ),
  truncated: Type.Boolean(),
  rulesVersion: Type.String(),
})

const critical = ({ findings }: ScanResult) =>
  findings.filter(({ severity }) => severity === 'CRITICAL')

/** The value at a JSON Pointer, and the key of its last part. */
function resolve(document: unknown, path: string): { key: string; value: unknown } {
  let value = document
  let key = ''
  for (const part of path.split('/').slice(1)) {
    key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    assert.ok(Object.hasOwn(value as object, key), path)
    value = (value as Record<string, unknown>)[key]
  }
  return { key, value }
}

function assertAtPath(document: unknown, { path, term, context }: Finding) {
  const { key, value } = resolve(document, path)
  assert.ok(term.length > 0)
  const text = [value, key].find((at) => typeof at === 'string' && at.includes(context))
  assert.ok(typeof text === 'string', `${term} stands at ${path}`)
  assert.ok(context.includes(term))
  assert.ok(context.length <= term.length + 80)
}

describe('a finding', () => {
  test('has path, term as written, rule, severity and context', () => {
    const document = {
      sections: [{ body: `${'a'.repeat(50)} it <b>tre</b>&#97;ts c\u200bancer now` }],
    }
    const { passed, findings, truncated, rulesVersion } = scanDocument(document)
    assert.equal(passed, false)
    assert.equal(truncated, false)
    assert.equal(rulesVersion, RULES_VERSION)
    const term = 'tre</b>&#97;ts c\u200bancer'
    assert.deepEqual(findings, [
      {
        path: '/sections/0/body',
        term,
        rule: 'disease_claim',
        severity: 'CRITICAL',
        context: `${'a'.repeat(33)} it <b>${term} now`,
      },
    ])
  })

  test('a finding in a key has the pointer to its member, escaped', () => {
    const [finding] = scanDocument({ 'a/b~c': { 'cures cancer': 1 } }).findings
    assert.equal(finding?.path, '/a~1b~0c/cures cancer')
    assert.equal(finding?.term, 'cures cancer')
  })

  test('a finding of a string that is the whole document has an empty pointer', () => {
    assert.equal(scanDocument('cures cancer').findings[0]?.path, '')
  })

  test('is found in an attribute, a comment and a percent-encoded address', () => {
    for (const text of [
      '<img alt="cures cancer" src="x.png">',
      'x <!-- cures cancer --> y',
      'https://shop.example/a?b=%63ures%20cancer',
      '&lt;p title="cures cancer"&gt;',
    ]) {
      assert.equal(scanText(text).passed, false, text)
    }
  })

  test('never splits a surrogate pair', () => {
    const { findings } = scanDocument(`${'😀'.repeat(60)}x cures cancer x${'😀'.repeat(60)}`)
    assert.ok(findings[0]?.context.isWellFormed())
  })

  test('a finding of a claim with many combining marks is cut to a readable length', () => {
    const text = `cures ${'\u0300\u0316'.repeat(50_000)}cancer`
    const [finding] = scanDocument({ text }).findings
    assert.equal(finding?.term, text.slice(0, 200))
  })
})

describe('the list of findings', () => {
  test('is in document order, keys before their values', () => {
    const document = {
      b: ['heals arthritis', { 'cures cancer': 'treats diabetes. FDA approved.' }],
      a: 'I lost 20 lbs',
    }
    assert.deepEqual(
      scanDocument(document).findings.map(({ path, term }) => [path, term]),
      [
        ['/b/0', 'heals arthritis'],
        ['/b/1/cures cancer', 'cures cancer'],
        ['/b/1/cures cancer', 'treats diabetes'],
        ['/b/1/cures cancer', 'FDA approved'],
        ['/a', 'I lost 20 lbs'],
      ],
    )
  })

  test('is cut at two hundred, and reported as truncated', () => {
    const exactly = scanDocument(new Array(FINDINGS_MAX).fill('cures cancer'))
    assert.equal(exactly.findings.length, FINDINGS_MAX)
    assert.equal(exactly.truncated, false)
    const more = scanDocument(new Array(FINDINGS_MAX + 1).fill('cures cancer'))
    assert.equal(more.findings.length, FINDINGS_MAX)
    assert.equal(more.truncated, true)
    assert.equal(more.findings.at(-1)?.path, `/${FINDINGS_MAX - 1}`)
  })

  test('keeps a critical finding that comes after many warnings', () => {
    const result = scanDocument([...new Array(500).fill('a miracle'), 'cures cancer'])
    assert.equal(result.passed, false)
    assert.equal(result.truncated, true)
    assert.equal(result.findings.length, FINDINGS_MAX)
    assert.equal(result.findings.at(-1)?.path, '/500')
  })
})

describe('a notice', () => {
  const missing = (document: unknown) =>
    scanDocument(document).findings.filter(({ rule }) => rule === 'missing_disclaimer')

  test('is reported as missing if the store sells research products and has no notice', () => {
    const [finding, ...others] = missing({ title: 'Pure BPC-157', body: 'Peptides, 99 % pure' })
    assert.deepEqual(others, [])
    assert.equal(finding?.path, '/title')
    assert.equal(finding?.term, 'BPC-157')
    assert.equal(finding?.severity, 'INFO')
    assert.equal(scanDocument({ title: 'Pure BPC-157' }).passed, true)
  })

  test('is found anywhere in the document', () => {
    for (const notice of [
      'For research use only.',
      'For laboratory research use only',
      'Not for human consumption',
      '<b>NOT FOR HUMAN USE</b>',
      'Only for laboratory research',
    ]) {
      assert.deepEqual(missing({ title: 'Peptides', footer: { text: notice } }), [], notice)
    }
  })

  test('is not required of stores that sell no research products', () => {
    assert.deepEqual(missing({ title: 'Coffee and cake' }), [])
  })
})

describe('any document', () => {
  test('is scanned, and each finding is at its path', () => {
    const words = fc.constantFrom(
      ...claims,
      'not',
      'cures',
      'cancer',
      '<b>',
      '&amp;',
      '%41',
      '\u0300',
    )
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.array(words).map((w) => w.join(' ')),
    )
    const json = fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 6 })
    const document = fc.oneof(json, fc.dictionary(text, fc.oneof(text, fc.array(text), json)))
    fc.assert(
      fc.property(document, (value) => {
        const result = scanDocument(value)
        assert.ok(Value.Check(Result, result))
        assert.equal(result.passed, critical(result).length === 0)
        for (const finding of result.findings) assertAtPath(value, finding)
      }),
      { numRuns: 300 },
    )
  })

  test('does not hide a claim that is put into it, however obfuscated', () => {
    const disguise = fc.constantFrom(...Object.values(EVASIONS))
    const place = fc.array(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.string()), { maxLength: 6 })
    fc.assert(
      fc.property(fc.constantFrom(...claims), disguise, place, fc.jsonValue(), (...drawn) => {
        const [claim, hide, path, other] = drawn
        const text = hide(claim)
        const document = path.reduceRight<unknown>(
          (inner, step) =>
            typeof step === 'number'
              ? [...new Array(step).fill(other), inner]
              : { before: other, [`k${step}`]: inner, behind: other },
          text,
        )
        assert.equal(scanDocument(document).passed, false, text)
      }),
      { numRuns: 500 },
    )
  })

  test('sixty-four levels deep is scanned to the bottom', () => {
    let document: unknown = 'cures cancer'
    for (let level = 0; level < 64; level += 1) document = level % 2 ? [document] : { a: document }
    assert.equal(scanDocument(document).passed, false)
  })
})

describe('any text, however long', () => {
  /** Parts that the scanner looks ahead or back from. */
  const parts = [
    ...[
      'a',
      't',
      ' ',
      '\n',
      '-\n',
      '-',
      '\\',
      '\\u',
      '\\u{',
      '\\x6',
      '%',
      '%c3',
      '&',
      '&#',
      '<',
      '<!--',
    ],
    ...['in-\nflam-\n', 'caan', 'cnacer', 'treat', 'not ', 'in mice ', 'research ', '1,', '.', '"'],
    ...[
      '治',
      '治疗',
      '食品药品监督管',
      'がん',
      'しない',
      'لل',
      'وال',
      'леч',
      'раков',
      'лeч',
      '\u0300',
      '\u202e',
      '\ufefb',
    ],
  ]

  test('takes a time that grows no faster than its length', () => {
    const unit = fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 6 })
    const cpuMs = (text: string) => {
      const before = process.threadCpuUsage()
      scanText(text)
      const { user, system } = process.threadCpuUsage(before)
      return (user + system) / 1_000
    }
    fc.assert(
      fc.property(unit, (drawn) => {
        const part = drawn.join('')
        const short = part.repeat(Math.ceil(8_000 / part.length))
        const long = short.repeat(8)
        // Quadratic work would take sixty-four times as long, in each try. Short times are not exact, and on a shared
        // machine the measured time includes the work of others.
        const isLinear = () => 24 * Math.max(cpuMs(short), 2) > cpuMs(long)
        cpuMs(short)
        assert.ok([1, 2, 3, 4, 5].some(isLinear), JSON.stringify(part))
      }),
      { numRuns: 80 },
    )
  })
})

test('the version of the rules changes with every word of the rules', () => {
  // After a change of the rules, run the corpus and write the new version into rules-version.ts.
  assert.equal(RULES_VERSION, hashRules())
})
