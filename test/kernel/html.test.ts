import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { html, trustedHtml } from '../../src/kernel/html.ts'

describe('the html tag', () => {
  test('escapes its values, in text and in attributes', () => {
    const attack = `"><script>alert('x')</script>&\``
    const { text } = html`<p title="${attack}">${attack}</p>`
    const safe = '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&#96;'
    assert.equal(text, `<p title="${safe}">${safe}</p>`)
  })

  test('escapes values in lists, however deep', () => {
    assert.equal(html`<ul>${[['<a>'], [[html`<li>`]]]}</ul>`.text, '<ul>&lt;a&gt;<li></ul>')
  })

  test('keeps its own markup and trusted markup as it is', () => {
    assert.equal(html`${html`<b>${'<'}</b>`}${trustedHtml('a > b')}`.text, '<b>&lt;</b>a > b')
  })

  test('shows nothing for an absent value, and a zero for a zero', () => {
    assert.equal(html`${null}${undefined}${false}${0}${''}`.text, '0')
  })

  test('does not take an object that looks like markup for markup', () => {
    const forged = { text: '<script>' } as unknown as string
    assert.equal(html`${forged}`.text.includes('<script>'), false)
  })
})
