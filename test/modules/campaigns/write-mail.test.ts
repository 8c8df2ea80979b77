import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { renderMarkdown } from '../../../src/modules/campaigns/render-markdown.ts'
import { BODY_LENGTH_MAX } from '../../../src/modules/campaigns/schema.ts'
import { writeCommon, writeMail, writeParts } from '../../../src/modules/campaigns/write-mail.ts'
import { readBrand } from '../../../src/modules/sites/brand.ts'

const look = {
  name: 'Tea & <Cups>',
  email: 'shop@shop.example',
  language: 'en',
  colours: readBrand(null).colours,
  storefrontUrl: 'https://shop.example',
  unsubscribe: 'Unsubscribe',
}

const draft = {
  subject: 'New <teas>',
  body_markdown: 'Hello.',
  sender_name: null,
  reply_to: null,
  utm: { source: 'letter', medium: null, campaign: 'may & june' },
}

const URL_OF_READER = 'https://platform.example/v1/unsubscribe/abc-_'
const headers = {
  'List-Unsubscribe': `<${URL_OF_READER}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
}

describe('the text of a campaign', () => {
  test('the text of a campaign takes at most a few times as long as ordinary text, whatever its shape', () => {
    const fill = (shape: string) => shape.repeat(16_000).slice(0, BODY_LENGTH_MAX)
    const fastest = (text: string) =>
      Math.min(
        ...Array.from({ length: 5 }, () => {
          const before = process.cpuUsage()
          renderMarkdown(text)
          const { user, system } = process.cpuUsage(before)
          return user + system
        }),
      )
    const usual = fastest(fill('Some *plain* words, and [a link](https://a.example).\n\n'))
    const nested = (open: string, close: string) => {
      const count = Math.floor(BODY_LENGTH_MAX / (open.length + close.length))
      return open.repeat(count) + close.repeat(count)
    }
    const shapes = [
      '\n> - > - > - 1. a',
      '<a@b.c>',
      'a\n=\n',
      '![](https://a)',
      '|a\n|-\n',
      '**a',
    ].map(fill)
    for (const text of [
      ...shapes,
      nested('![', '](https://a)'),
      nested('[', ']'),
      nested('*_', '_*'),
    ]) {
      const took = fastest(text)
      assert.ok(
        took < 30 * usual,
        `${text.slice(0, 20)} took ${took} µs, ordinary text ${usual} µs`,
      )
    }
  })

  test('has no HTML, script or link of another kind', () => {
    for (const [written, shown] of [
      ['<script>alert(1)</script>', /^<p>&lt;script&gt;/],
      ['<img src=x onerror=alert(1)>', /^<p>&lt;img/],
      ['[a](javascript:alert(1))', /^<p>\[a\]/],
      ['[a](data:text/html,x)', /^<p>\[a\]/],
      ['[a](/path)', /^<p>\[a\]/],
      ['![a](http://x.example/"onload="y)', /^<p>(?!.*"onload="y">)/],
      ['[a](https://x.example/?q="><b>)', /^<p>(?!.*<b>)/],
      ['# Title', /^<h1>Title<\/h1>/],
      ['[a](mailto:a@b.example)', /<a href="mailto:a@b\.example">a<\/a>/],
    ] as const) {
      assert.match(renderMarkdown(written), shown, written)
    }
  })

  test('is rendered quickly, whatever the text contains', () => {
    for (const unit of ['>', '- ', '*', '[', '![](', '_a ', '`', '\\', '&']) {
      const began = performance.now()
      renderMarkdown(unit.repeat(16_000 / unit.length))
      assert.ok(performance.now() - began < 1_000, unit)
    }
  })

  test('names the campaign in links to its own store, and in no other links', () => {
    const body_markdown = [
      '[cups](https://shop.example/cups?size=2#top)',
      '[elsewhere](https://other.example/cups)',
      '[mail](mailto:shop@shop.example)',
    ].join(' ')
    const { html } = writeParts(look, { ...draft, body_markdown }, URL_OF_READER)
    assert.ok(
      html.includes(
        'href="https://shop.example/cups?size=2&amp;utm_source=letter&amp;utm_campaign=may+%26+june#top"',
      ),
      html,
    )
    assert.ok(html.includes('href="https://other.example/cups"'))
    assert.ok(html.includes('href="mailto:shop@shop.example"'))
  })

  test("has the reader's link in HTML and in text, and escapes the names of the store", () => {
    const mail = writeMail(look, draft, { url: URL_OF_READER, headers })
    assert.ok(mail.html.includes(`href="${URL_OF_READER}"`))
    assert.ok(mail.text.endsWith(`-- \nTea & <Cups>\nUnsubscribe: ${URL_OF_READER}\n`))
    assert.ok(mail.html.includes('Tea &amp; &lt;Cups&gt;') && !mail.html.includes('<Cups>'))
    assert.ok(mail.html.includes('<title>New &lt;teas&gt;</title>'))
    assert.deepEqual([mail.fromName, mail.replyTo], ['Tea & <Cups>', 'shop@shop.example'])
    assert.doesNotMatch(mail.html + mail.text, /\.invalid/)
  })

  test("cannot contain the reader's link, and so cannot send it elsewhere", () => {
    const guess = 'https://reader.invalid/unsubscribe'
    const thief = { ...draft, body_markdown: `[win](https://thief.example/?of=${guess})` }
    const mail = writeMail(look, thief, { url: URL_OF_READER, headers })
    assert.equal(mail.html.split(URL_OF_READER).length, 2, 'once, at the end')
    assert.equal(mail.text.split(URL_OF_READER).length, 2)
    const { text, html } = writeCommon(look, draft)
    assert.deepEqual([text.length, html.length], [2, 2], 'one place for the link of each reader')
  })

  test('stays within a megabyte, however many links it has', () => {
    const utm = { source: '茶'.repeat(200), medium: '茶'.repeat(200), campaign: '茶'.repeat(200) }
    const link = '[](https://shop.example) '
    const body_markdown = link.repeat(16_000 / link.length)
    const { html } = writeParts(look, { ...draft, body_markdown, utm }, URL_OF_READER)
    assert.ok(html.length < 500_000, `${html.length} characters`)
    const few = writeParts(look, { ...draft, body_markdown: link, utm }, URL_OF_READER)
    assert.ok(few.html.includes('utm_source='), 'a mail of the usual size names its campaign')
  })

  test("has the campaign's reply address, and none that is not valid", () => {
    const write = (more: object, from = look) => writeCommon(from, { ...draft, ...more }).replyTo
    assert.equal(write({ reply_to: 'ann@shop.example' }), 'ann@shop.example')
    for (const [email, expected] of [
      ['a@b.example, c@d.example', null],
      ['info@bücher.example', 'info@xn--bcher-kva.example'],
      ['bücher@shop.example', null],
      ['a@b.example\r\nBcc: c@d.example', null],
    ] as const) {
      assert.equal(write({}, { ...look, email }), expected, email)
    }
  })
})
