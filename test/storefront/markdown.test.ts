import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { markdownWeight, TEXT_WEIGHT_MAX } from '../../manifest/markdown-weight.ts'
import { markdown } from '../../storefront/layout/markdown.ts'

const shown = (text: string, level: 2 | 3 = 2) => markdown(text, level).text.trim()

/** 60,000 characters: as many of a shape as are rendered at all, and then plain words. */
function fill(shape: string): string {
  let count = Math.ceil(60_000 / shape.length)
  while (markdownWeight(shape.repeat(count)) > TEXT_WEIGHT_MAX) count = Math.floor(count * 0.98)
  return shape.repeat(count).padEnd(60_000, ' word').slice(0, 60_000)
}

/** Every tag of a text, such as `<a href="/x">`. */
const tagsOf = (text: string) => shown(text).match(/<[^>]*>/g) ?? []

describe('Markdown of a merchant', () => {
  test('shows headings, lists, tables, emphasis and links', () => {
    assert.equal(
      shown('A **b** *c* `d`\nE'),
      '<p>A <strong>b</strong> <em>c</em> <code>d</code><br>\nE</p>',
    )
    assert.equal(shown('- a\n- b'), '<ul>\n<li>a</li>\n<li>b</li>\n</ul>')
    assert.equal(shown('[About us](/pages/about)'), '<p><a href="/pages/about">About us</a></p>')
    assert.match(shown('| a |\n|---|\n| b |'), /<table>(.|\n)*<td>b<\/td>/)
    assert.match(shown('<https://a.example/?b=1&c>'), /href="https:\/\/a.example\/\?b=1&amp;c"/)
  })

  test('has no inline style, which the policy of the page would refuse', () => {
    assert.match(shown('| a |\n|--:|\n| b |'), /<td class="align-right">b</)
    assert.doesNotMatch(shown('| a | b |\n|:-:|--:|\n| c | d |'), /style/)
  })

  test('leaves out no level of headings', () => {
    const levels = (text: string, level?: 2 | 3) =>
      [...shown(text, level).matchAll(/<h(\d)>.*<\/h\1>/g)].map(([, at]) => Number(at))
    assert.deepEqual(levels('# a\n## b\n# c'), [2, 3, 2])
    assert.deepEqual(levels('### a\n# b\n###### c'), [2, 2, 3])
    assert.deepEqual(levels('## a\n#### b', 3), [3, 4])
  })

  test('never links to a script, to data or to another host by a path', () => {
    for (const target of [
      'javascript:alert(1)',
      'JaVaScRiPt:alert(1)',
      '&#106;avascript:alert(1)',
      'java&#115;cript:alert(1)',
      'java&Tab;script:alert(1)',
      'java%0ascript:alert(1)',
      'data:text/html,<script>alert(1)</script>',
      'data:image/png;base64,AAAA',
      'vbscript:x',
      'file:///etc/passwd',
      'blob:https://a.example/1',
      '//evil.example',
      '\\\\evil.example',
      'tel:123',
      'about',
    ]) {
      for (const text of [`[a](${target})`, `[a](<${target}>)`, `<${target}>`]) {
        assert.deepEqual(
          tagsOf(text).filter((tag) => tag.startsWith('<a')),
          [],
          text,
        )
      }
    }
    // The browser reads an escaped backslash as part of the path.
    assert.equal(shown('[a](/\\evil)'), '<p><a href="/%5Cevil">a</a></p>')
    for (const target of [
      '/x',
      '#top',
      'https://a.example',
      'http://a.example',
      'mailto:a@b.example',
    ]) {
      assert.deepEqual(tagsOf(`[a](${target})`)[1], `<a href="${target}">`)
    }
  })

  test('shows HTML, images and code as the text that they are', () => {
    for (const text of [
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '<a href="javascript:1">x</a>',
      '<!-- --><b>x</b>',
      '![a](https://a.example/pixel.png)',
      '```html\n<b>x</b>\n```',
      '[a]: javascript:alert(1)\n\n[a]',
      '"><svg onload=alert(1)>',
      '[a](/x "onmouseover=alert(1) \\" x=\\"")',
      '[a](/x"onmouseover="alert(1))',
    ]) {
      for (const tag of tagsOf(text)) {
        assert.match(
          tag,
          /^<\/?(p|a|code|em|strong)( href="[^"]*")?( title="[^"]*")?>$|^<br>$/,
          text,
        )
      }
    }
  })

  test('keeps the text of a link that leads nowhere, without the link', () => {
    assert.equal(
      shown('See [*here*](), or [there](/x).'),
      '<p>See <em>here</em>, or <a href="/x">there</a>.</p>',
    )
    assert.equal(shown('[]()[a]()'), '<p>a</p>')
  })

  test('Markdown of any text has only tags of the parser, and no URL scheme of its own', () => {
    const pieces = fc.constantFrom(
      ...[
        '[',
        ']',
        '(',
        ')',
        '<',
        '>',
        '*',
        '_',
        '`',
        '&',
        '#',
        '\\',
        '"',
        "'",
        '|',
        '\n',
        ' ',
        '- ',
      ],
      ...[
        'javascript:',
        'data:',
        'https://a',
        '&#x6A;',
        '\u0000',
        '\t',
        'on=1',
        '/x',
        '1. ',
        '---',
      ],
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        for (const tag of tagsOf(parts.join(''))) {
          assert.match(tag, /^<\/?[a-z][a-z0-9]*( (href|title|start|class)="[^"]*")*>$/)
          const [, href] = /href="([^"]*)"/.exec(tag) ?? []
          if (href !== undefined) assert.match(href, /^(\/(?![/\\])|#|https?:|mailto:)/)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('Markdown of a merchant that is too heavy is shown unformatted, however its tables would be filled up', () => {
    const table = `${'|a'.repeat(160)}\n${'|-'.repeat(160)}\n${'a\n'.repeat(400)}\n`
    for (const prefix of ['', '> ', '- > ', '1. ', '  ', '- - ']) {
      const text = `${table}\n`
        .repeat(30)
        .replaceAll(/^(?=.)/gm, prefix)
        .slice(0, 60_000)
      assert.match(shown(text), /^<p class="plain">[^<]*<\/p>$/, prefix)
    }
    assert.equal(shown('<b>\n'.repeat(10_000)).match(/<(?!\/?p)/g), null)
    // A table that a shop may well have.
    const rows = '| Germany | 1 to 2 days | 4.90 € | free from 50 € |\n'.repeat(240)
    const shipping = `| Country | Time | Price | Note |\n|---|---|--:|---|\n${rows}`
    assert.equal(shown(shipping).match(/<td/g)?.length, 960)
  })

  test('never has more cells than were counted before it was rendered', () => {
    const pieces = fc.constantFrom(
      ...['|', '|', '|-', '|-', '|-|-', 'a', '\n', '\n', '\n\n', '> ', '- ', '1. ', '    ', '\\|'],
      ...['\n|a|b|c\n|-|-|-\n', '\n> |a\n> |-\n', ':', '-', '\t', '`|`', '\f', '\r', '\u00a0'],
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 120 }), (parts) => {
        const text = parts.join('')
        const cells = shown(text).match(/<t[hd][ >]/g)?.length ?? 0
        assert.ok(2 * cells <= markdownWeight(text), `${cells} cells`)
      }),
      { numRuns: 3_000 },
    )
  })

  test('Markdown of any shape and 60,000 characters takes a few times as long as ordinary text', () => {
    const paragraph = `${'Some *plain* words, and [a link](/x) to another page. '.repeat(6)}\n\n`
    const ordinary = fill(paragraph)
    const timeOf = (text: string) => {
      const before = process.cpuUsage()
      const { length } = markdown(text, 2).text
      assert.ok(length < 20 * text.length, `${length} characters of HTML`)
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    const fastest = (text: string, tries: number) =>
      Math.min(...Array.from({ length: tries }, () => timeOf(text)))
    const usual = fastest(ordinary, 10)
    const pieces = fc.constantFrom(
      ...['*', '_', '**', '`', '``', '[', ']', '(', ')', '](', '](/x)', '<', '>', '> ', '- ', '* '],
      ...['1. ', '\n', '\n\n', '|', '-', '|-', 'a', 'a ', '&', '&amp;', '&#', '\\', '#', '# ', ' '],
      ...['    ', '"', '!', '<http:', ':', '=', '\t', "'", 'ä', '😀', '\u0000', '~', '+ ', '中'],
      ...['[a](/x)', '<https://a>', '*a*', '<a@b.c>', '\n|a|\n|-|\n', '\n- a\n\n'],
      ...['\n> - > - > - 1. a', '\n1. 1. 1. 1. a', '|-|-|-\n', '\n![a](b)', '<!--', '<a b="'],
    )
    const check = (shape: string) => {
      const text = fill(shape)
      const took = fastest(text, 2)
      const name = JSON.stringify(shape)
      assert.ok(took < 15 * usual, `${name} took ${took} µs, and ordinary text ${usual} µs`)
    }
    for (const shape of ['\n> - > - > - 1. a\t', '<https://a>', '<a@b.c>', '1. a\n', '[', '- a\n'])
      check(shape)
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 6 }), (parts) => {
        check(parts.join(''))
      }),
      { numRuns: 30 },
    )
  })

  test('takes time in proportion to its length, whatever its content', () => {
    const units = [
      '*_',
      '**a',
      '[',
      '[a](',
      '*[a](b)',
      '> ',
      '- ',
      '`a ',
      '&#',
      '<a',
      '- *',
      '*x *x ',
    ]
    const more = [
      '- a\n  ',
      '>\n',
      '| a ',
      '|-',
      '\\',
      '<http:',
      '![a](',
      '1. ',
      '[a]: b\n',
      '*a _b ',
    ]
    for (const unit of [...units, ...more]) {
      const text = unit.repeat(Math.ceil(20_000 / unit.length)).slice(0, 20_000)
      const before = process.cpuUsage()
      markdown(text, 2)
      const { user, system } = process.cpuUsage(before)
      // It takes some 50 ms. A parser of quadratic time takes minutes for some of these.
      assert.ok(user + system < 3_000_000, `${JSON.stringify(unit)} took ${user + system} µs`)
    }
    const nested = Array.from({ length: 300 }, (_, at) => `${'  '.repeat(at)}- a`).join('\n')
    assert.ok(shown(nested).length < 200_000)
  })
})
