/**
 * Ways to hide a word from a filter and not from a reader. Each changes every claim it is given.
 */

const inWords = (text: string, change: (word: string, index: number) => string) => {
  let index = 0
  return text.replace(/\p{L}{4,}/gu, (word) => {
    index += 1
    return change(word, index)
  })
}

const eachLetter = (text: string, table: Readonly<Record<string, string>>) =>
  Array.from(text, (char) => table[char] ?? char).join('')

const shifted = (text: string, upper: number, lower: number) =>
  text
    .replace(/[A-Z]/g, (c) => String.fromCodePoint(upper + c.charCodeAt(0) - 65))
    .replace(/[a-z]/g, (c) => String.fromCodePoint(lower + c.charCodeAt(0) - 97))

const insert = (text: string, what: string) =>
  inWords(text, (word) => `${word.slice(0, 2)}${what}${word.slice(2)}`)

const SMALL_CAPITALS = Object.fromEntries(
  Array.from('ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡxʏᴢ', (c, i) => [String.fromCharCode(97 + i), c]),
)

const CYRILLIC = { a: 'а', c: 'с', e: 'е', o: 'о', p: 'р', s: 'ѕ', i: 'і', x: 'х', y: 'у', h: 'һ' }
const GREEK = { a: 'α', e: 'ε', i: 'ι', o: 'ο', u: 'υ', n: 'η', t: 'τ', v: 'ν', k: 'κ', p: 'ρ' }
const LEET = { o: '0', i: '1', e: '3', a: '4', s: '5', t: '7' }
const LEET_SIGNS = { a: '@', s: '$', i: '!', o: '0', e: '3' }

const leet = (text: string, table: Readonly<Record<string, string>>) =>
  inWords(text, (word) => word[0] + eachLetter(word.slice(1, -1), table) + word.at(-1))

const backwards = (text: string) => [...text].reverse().join('')

export const EVASIONS: Readonly<Record<string, (text: string) => string>> = {
  'upper case': (text) => text.toUpperCase(),
  'mixed case': (text) =>
    Array.from(text, (c, i) => (i % 2 ? c.toUpperCase() : c.toLowerCase())).join(''),
  'full-width forms': (text) => shifted(text, 0xff21, 0xff41),
  'mathematical bold': (text) => shifted(text, 0x1d400, 0x1d41a),
  'mathematical script': (text) => shifted(text, 0x1d4d0, 0x1d4ea),
  'circled letters': (text) => shifted(text, 0x24b6, 0x24d0),
  'squared letters': (text) => shifted(text.toUpperCase(), 0x1f130, 0x1f130),
  'negative squared letters': (text) => shifted(text.toUpperCase(), 0x1f170, 0x1f170),
  'regional letters': (text) => shifted(text.toUpperCase(), 0x1f1e6, 0x1f1e6),
  'small capitals': (text) => eachLetter(text.toLowerCase(), SMALL_CAPITALS),
  'zero-width space': (text) => insert(text, '\u200b'),
  'zero-width joiner': (text) => insert(text, '\u200d'),
  'soft hyphen': (text) => insert(text, '\u00ad'),
  'word joiner': (text) => insert(text, '\u2060'),
  'variation selector': (text) => insert(text, '\ufe0f'),
  'tag characters': (text) => insert(text, '\u{e0061}'),
  'combining marks': (text) => insert(text, '\u0301\u0316'),
  'many combining marks': (text) => insert(text, '\u0300\u0316'.repeat(40)),
  'struck through': (text) => Array.from(text, (c) => (c === ' ' ? c : `${c}\u0336`)).join(''),
  'accented letters': (text) =>
    eachLetter(text, { a: 'á', e: 'ê', i: 'ï', o: 'ō', u: 'ü', n: 'ñ' }),
  'cyrillic look-alikes': (text) => eachLetter(text, CYRILLIC),
  'greek look-alikes': (text) => eachLetter(text, GREEK),
  'capital i for l': (text) =>
    inWords(text, (word) => word[0] + word.slice(1).replaceAll('l', 'I')),
  'inline tag in a word': (text) => insert(text, '<b></b>'),
  'inline tag with an attribute': (text) => insert(text, '<span title="a > b">'),
  'comment in a word': (text) => insert(text, '<!-- x -->'),
  'claim split over inline tags': (text) =>
    inWords(text, (w) => `<b>${w.slice(0, 2)}</b>${w.slice(2)}`),
  'decimal entities': (text) => inWords(text, (w) => `&#${w.charCodeAt(0)};${w.slice(1)}`),
  'hexadecimal entities': (text) =>
    inWords(text, (w) => `${w[0]}&#x${w.charCodeAt(1).toString(16)};${w.slice(2)}`),
  'entities within entities': (text) =>
    inWords(text, (w) => `${w[0]}&amp;#${w.charCodeAt(1)};${w.slice(2)}`),
  'invisible entities': (text) => insert(text, '&shy;'),
  'escaped tags': (text) => insert(text, '&lt;i&gt;'),
  'percent escapes': (text) =>
    inWords(text, (w) =>
      `${w[0]}%${w.charCodeAt(1).toString(16)}${w.slice(2)}`.replace(/%[^0-7].*/, w.slice(1)),
    ),
  'percent-encoded whole': (text) => encodeURIComponent(text),
  'spaced letters': (text) => inWords(text, (w) => w.split('').join(' ')),
  'hyphenated letters': (text) => inWords(text, (w) => w.split('').join('-')),
  'dotted letters': (text) => inWords(text, (w) => w.split('').join('.')),
  'letters with underscores': (text) => inWords(text, (w) => w.split('').join('_')),
  'letters with two spaces': (text) => inWords(text, (w) => w.split('').join('  ')),
  'a hyphen in each word': (text) => insert(text, '-'),
  'a space in each long word': (text) =>
    text.replace(/[a-z]{6,}/gi, (word) => `${word.slice(0, 3)} ${word.slice(3)}`),
  'a pictograph in each word': (text) => insert(text, '🔥'),
  'a starred letter': (text) =>
    inWords(text, (w) => (w.length > 3 && /^[a-z]+$/i.test(w) ? `${w[0]}*${w.slice(2)}` : w)),
  leetspeak: (text) => leet(text, LEET),
  'leetspeak with signs': (text) => leet(text, LEET_SIGNS),
  'spaced leetspeak': (text) => inWords(text, (w) => leet(w, LEET).split('').join(' ')),
  'letters that are shown in the other direction': (text) => `\u202e${backwards(text)}\u202c`,
  'some letters that are shown in the other direction': (text) =>
    inWords(text, (w) => `${w[0]}\u202e${backwards(w.slice(1))}\u202c`),
  'words that are shown in the other direction': (text) =>
    `\u202e${text
      .split(' ')
      .toReversed()
      .map((word, i) => (i % 2 ? `\u2066${word}\u2069` : backwards(word)))
      .join(' ')}`,
  'no-break spaces': (text) => text.replaceAll(' ', '\u00a0'),
  'ideographic spaces': (text) => text.replaceAll(' ', '\u3000'),
  'a line in between': (text) => text.replace(' ', '\n'),
  'words in paragraphs of their own': (text) => text.replaceAll(' ', '</p><p>'),
  'hidden in an attribute': (text) => `<img alt="${text.replaceAll('"', '')}">`,
  'a word before and behind': (text) => `Now: ${text} - order today`,
}
