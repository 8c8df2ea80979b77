import assert from 'node:assert/strict'

/** An element of an XML document: its name, its attributes and what it contains. */
export interface XmlElement {
  name: string
  attributes: Record<string, string>
  children: XmlElement[]
  text: string
}

const TOKEN =
  /<\?xml [^?]*\?>|<(\/?)([A-Za-z][\w.:-]*)((?:\s+[\w.:-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/y
const ENTITY = /&(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-f]+);/gi

/** Refuses an `&` that begins no entity, and characters that XML 1.0 does not have. */
function assertText(text: string): void {
  assert.doesNotMatch(text.replace(ENTITY, ''), /&/, `a bare & in ${text.slice(0, 80)}`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/)
}

const unescaped = (text: string) =>
  text
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&')

/** Reads an XML document without declarations, or fails where it is not well-formed. */
export function parseXml(document: string): XmlElement {
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < document.length) {
    const at = TOKEN.lastIndex
    const [, closes, name, attributes = '', isEmpty, text] = TOKEN.exec(document) ?? []
    assert.ok(TOKEN.lastIndex > at, `not well-formed at ${document.slice(at, at + 80)}`)
    const parent = open.at(-1)
    assert.ok(parent !== undefined)
    if (text !== undefined) {
      assertText(text)
      parent.text += unescaped(text).trim()
    } else if (closes === '/') {
      assert.equal(open.pop()?.name, name)
    } else if (name !== undefined) {
      const pairs = [...attributes.matchAll(/([\w.:-]+)="([^"]*)"/g)]
      for (const [, , value = ''] of pairs) assertText(value)
      const element: XmlElement = {
        name,
        attributes: Object.fromEntries(pairs.map(([, key, value = '']) => [key, unescaped(value)])),
        children: [],
        text: '',
      }
      parent.children.push(element)
      if (isEmpty !== '/') open.push(element)
    }
  }
  assert.equal(open.length, 1, `${open.at(-1)?.name} is not closed`)
  const [only, ...others] = root.children
  assert.ok(only !== undefined && others.length === 0, 'a document has one root')
  return only
}
