/**
 * Ways to disguise a claim, each in several variants. They are written from what a reader still
 * understands and share no table with the scanner, so that a gap in its tables shows here.
 */
type Disguise = (text: string) => readonly string[]

const hex = (letter: string, digits: number) =>
  (letter.codePointAt(0) ?? 0).toString(16).padStart(digits, '0')

/** Changes every word of four letters or more. */
const words = (text: string, change: (word: string) => string) =>
  text.replace(/[A-Za-z]{4,}/g, change)

/** Changes the longest word alone: the word that most looks like a claim. */
function longest(text: string, change: (word: string) => string): string {
  const found = (text.match(/[A-Za-z]{4,}/g) ?? []).sort((a, b) => b.length - a.length)[0]
  return found === undefined ? text : text.replace(found, () => change(found))
}

const middle = (word: string) => Math.floor(word.length / 2)
const split = (word: string, sign: string, at = middle(word)) =>
  word.slice(0, at) + sign + word.slice(at)
const joined = (word: string, sign: string) => [...word].join(sign)

const swapAt = (word: string, at: number) =>
  word.slice(0, at) + (word[at + 1] ?? '') + (word[at] ?? '') + word.slice(at + 2)

/** Swaps the two letters at a place, where they differ and the word is long enough to be read. */
const swapped = (place: (word: string) => number) => (text: string) =>
  words(text, (word) => {
    const at = place(word)
    const same = word[at]?.toLowerCase() === word[at + 1]?.toLowerCase()
    return word.length < 5 || same ? word : swapAt(word, at)
  })

const repeat = (text: string, pattern: RegExp, times: number) =>
  words(text, (word) => word.replace(pattern, (letter) => letter.toLowerCase().repeat(times)))

const between =
  (sign: string): Disguise =>
  (text) => [words(text, (word) => joined(word, sign)), longest(text, (word) => joined(word, sign))]

const within =
  (...signs: string[]): Disguise =>
  (text) =>
    signs.flatMap((sign) => [
      words(text, (w) => split(w, sign)),
      words(text, (w) => split(w, sign, 1)),
    ])

const letters = (text: string, pairs: string) => {
  const table = new Map(pairs.split(' ').map((pair) => [pair[0], [...pair].slice(1).join('')]))
  return [...text].map((letter) => table.get(letter) ?? letter).join('')
}

/** U+1D455 is not assigned: the italic h of mathematics is the Planck constant. */
const script = (first: number) => (text: string) =>
  text
    .replace(/[a-z]/gi, (c) => String.fromCodePoint(first + c.toLowerCase().charCodeAt(0) - 97))
    .replaceAll('\u{1d455}', '\u210e')

export const GENERATED: Readonly<Record<string, Disguise>> = {
  'Unicode escapes': (text) => [
    words(text, (w) => [...w].map((c) => `\\u${hex(c, 4)}`).join('')),
    words(text, (w) => `\\u${hex(w.charAt(0), 4)}${w.slice(1)}`),
    words(text, (w) => `${w[0]}\\u00${hex(w.charAt(1), 2).toUpperCase()}${w.slice(2)}`),
    words(text, (w) => `${w.slice(0, -1)}\\u{${hex(w.at(-1) ?? '', 1)}}`),
    words(text, (w) => `${w[0]}\\x${hex(w.charAt(1), 2)}${w.slice(2)}`),
    words(text, (w) => `${w[0]}\\\\u${hex(w.charAt(1), 4)}${w.slice(2)}`),
  ],
  'a hyphen at the end of a line': (text) => [
    words(text, (w) => split(w, '-\n')),
    words(text, (w) => split(w, '-\r\n')),
    words(text, (w) => split(w, '-\n    ', 2)),
    longest(text, (w) => split(w, '\u2010\n', w.length - 2)),
    longest(text, (w) => split(w, '- ')),
    longest(text, (w) => split(w, '-<br>')),
    longest(text, (w) => `${w.slice(0, 2)}-\n${w.slice(2, 4)}-\n${w.slice(4)}`),
  ],
  'doubled vowels': (text) => [
    repeat(text, /[aeiou]/gi, 2),
    repeat(text, /[aeiou]/i, 2),
    repeat(text, /[aeiou](?=[^aeiou]*$)/i, 2),
    repeat(text, /[aeiou]/gi, 3),
  ],
  'doubled consonants': (text) => [
    repeat(text, /(?<=.)[bcdfgklmnprstvz](?=.)/i, 2),
    repeat(text, /[bcdfgklmnprstvz]$/i, 3),
  ],
  'swapped letters': (text) => [
    swapped(() => 1)(text),
    swapped(middle)(text),
    swapped((word) => word.length - 3)(text),
    swapped((word) => word.length - 2)(text),
    longest(
      text,
      swapped(() => 1),
    ),
    longest(
      text,
      swapped(() => 2),
    ),
  ],
  'swapped first letters': (text) => [
    longest(
      text,
      swapped(() => 0),
    ),
  ],
  'mixed inner letters': (text) => [
    longest(text, (w) => `${w[0]}${[...w.slice(1, -1)].toReversed().join('')}${w.at(-1)}`),
  ],
  'letters with spaces': between(' '),
  'letters with hyphens': between('-'),
  'letters with points': between('.'),
  'letters with slashes': between('/'),
  'letters with bars': between('|'),
  'letters with tildes': between('~'),
  'letters with middle dots': between('·'),
  'letters with bullets': between('•'),
  'letters with spaced hyphens': between(' - '),
  'letters with thin spaces': between('\u2009'),
  'letters with zero-width characters': between('\u200c'),
  'a sign in each word': within('-', '_', '*', '.', '~'),
  'an invisible character in each word': within('\u200b', '\u2061', '\u00ad', '\ufeff', '\u034f'),
  'markup in each word': within('<wbr>', '<i></i>', '<!---->', '</span><span class="a">'),
  'entities in each word': within('&shy;', '&#8203;', '&zwnj;', '&#x200d;'),
  'entities for letters': (text) => [
    words(text, (w) => [...w].map((c) => `&#${c.charCodeAt(0)};`).join('')),
    words(text, (w) => [...w].map((c) => `&#x${hex(c, 4)};`).join('')),
    words(text, (w) => `&#${w.charCodeAt(0)}${w.slice(1)}`),
  ],
  'percent escapes': (text) => [
    [...text].map((c) => `%${hex(c, 2)}`).join(''),
    encodeURIComponent(text).replaceAll('%20', '+'),
    words(text, (w) => `%${hex(w.charAt(0), 2)}${w.slice(1)}`),
  ],
  'letters of other alphabets': (text) => [
    letters(text, 'aа eе oо cс pр xх yу iі sѕ'),
    letters(text, 'aα eε oο iι uυ pρ nη'),
    letters(text, 'TТ CС HН BВ MМ EЕ AА OО PР KК'),
    letters(text, 'oօ uս nո hհ'),
  ],
  'letters with marks': (text) => [
    letters(text, 'aä eë iï oö uü cç nñ sš zž'),
    letters(text, 'aą eę lł sś cć uů tţ'),
    [...text].map((c) => (c === ' ' ? c : `${c}\u0335`)).join(''),
  ],
  'letters of mathematics': (text) =>
    [0x1d41a, 0x1d44e, 0x1d4ea, 0x1d5ba, 0x1d5ee, 0x1d68a].map((first) => script(first)(text)),
  'letters in frames': (text) => [
    script(0x24d0)(text),
    script(0x249c)(text),
    script(0xff41)(text),
    script(0x1f150)(text),
  ],
  'figures for letters': (text) => [
    words(text, (w) => w[0] + letters(w.slice(1), 'e3 o0 i1 a4 s5')),
    longest(text, (w) => w[0] + letters(w.slice(1), 'a@ s$ i! o0 e3')),
    longest(text, (w) => w[0] + letters(w.slice(1), 't7 e3')),
  ],
  'other case': (text) => [
    text.toUpperCase(),
    text.toLowerCase(),
    [...text].map((c, i) => (i % 2 ? c.toLowerCase() : c.toUpperCase())).join(''),
  ],
  'words run together': (text) => [
    text.replace(/[A-Za-z]+/g, (w) => (w[0] ?? '').toUpperCase() + w.slice(1)).replaceAll(' ', '_'),
    text.replaceAll(' ', '-'),
    text.replaceAll(' ', '\u00a0'),
    text.replaceAll(' ', '\n'),
  ],
  'display order': (text) => [`\u202e${[...text].toReversed().join('')}\u202c`],
  'words around it': (text) => [
    `New in store: ${text}`,
    `${text} - order now`,
    `<p>Hello</p><h2>${text}</h2><p>Bye</p>`,
    `Not for resale. ${text}`,
  ],
}
