import { CREAM, type Drawing, gloss, seedOf } from './brush.ts'
import { darken, fadeBelow, lighten, linear, mix, randomOf, roundLight } from './paint.ts'

const JAR =
  'M384 396h232c40 26 58 66 58 118v176c0 30-20 50-50 50H376c-30 0-50-20-50-50V514c0-52 18-92 58-118z'
const BAG =
  'M348 318l304 0c14 130 34 268 40 396 2 18-6 26-24 26H332c-18 0-26-8-24-26 6-128 26-266 40-396z'

/** What stands on the shelves of a pantry. */
export const PANTRY = {
  bag: {
    outline: BAG,
    focus: [500, 560, 380],
    foot: 190,
    draw: ({ id, palette: { light, dark, accent } }) => `
    <defs>${linear(`${id}a`, [
      [0, darken(light, 0.22)],
      [0.07, lighten(light, 0.16)],
      [0.16, light],
      [0.52, lighten(light, 0.1)],
      [0.84, mix(light, dark, 0.45)],
      [0.9, mix(light, dark, 0.8)],
      [1, mix(light, dark, 0.4)],
    ])}${fadeBelow(`${id}c`, 0.3)}
      ${linear(`${id}l`, [
        [0, darken(CREAM, 0.06)],
        [0.3, CREAM],
        [1, darken(CREAM, 0.14)],
      ])}</defs>
    <path d="${BAG}" fill="url(#${id}a)"/>
    <path d="M376 320c-8 140-26 280-34 418M624 320c8 140 26 280 34 418" fill="none" stroke="${darken(dark, 0.3)}" stroke-width="3" stroke-opacity=".35"/>
    <g fill="none" stroke="#fff" stroke-width="4" stroke-opacity=".18"><path d="M360 420c40 20 60 8 90 26M410 372c60 16 110 4 160 14M640 440c-20 30-44 30-50 60M330 700c60-16 100-4 150-18M560 700c40-10 60-2 96-22"/></g>
    <path d="${BAG}" fill="url(#${id}c)"/>
    <path d="M344 262h312c6 20 4 42 0 62H344c-4-20-6-42 0-62z" fill="${mix(light, dark, 0.3)}"/>
    <path d="M344 262h312v18H344z" fill="${lighten(light, 0.2)}" fill-opacity=".7"/>
    <rect x="334" y="296" width="332" height="16" rx="5" fill="${darken(dark, 0.4)}"/><rect x="334" y="296" width="332" height="5" rx="2" fill="#fff" fill-opacity=".3"/>
    <path d="M400 424c66-6 134-6 200 0l10 232c-72 6-148 6-220 0z" fill="url(#${id}l)"/>
    <circle cx="500" cy="512" r="58" fill="${accent}"/>
    <g fill="${darken(dark, 0.25)}"><ellipse cx="484" cy="514" rx="21" ry="32" transform="rotate(24 484 514)"/><ellipse cx="524" cy="508" rx="19" ry="29" transform="rotate(-20 524 508)"/></g>
    <g fill="none" stroke="${accent}" stroke-width="3.5"><path d="M474 540c14-14 8-36 20-52M516 534c12-12 4-34 16-50"/></g>
    <path d="M438 596h124" stroke="${darken(dark, 0.25)}" stroke-width="9"/><path d="M456 618h88M470 636h60" stroke="${darken(dark, 0.1)}" stroke-width="4" stroke-opacity=".7"/>`,
  },
  tin: {
    outline: 'M362 336h276v392a12 12 0 0 1-12 12H374a12 12 0 0 1-12-12z',
    focus: [500, 520, 360],
    foot: 134,
    draw: ({ id, palette: { light, dark, accent } }) => `
    <defs>${roundLight(`${id}a`, light, dark)}${roundLight(`${id}b`, mix(light, dark, 0.35), darken(dark, 0.3))}${roundLight(`${id}l`, CREAM, darken(CREAM, 0.42))}${fadeBelow(`${id}c`)}</defs>
    <path d="M370 396h260v332c0 8-116 18-130 18s-130-10-130-18z" fill="url(#${id}a)"/>
    <path d="M370 480c80 18 180 18 260 0v170c-80 18-180 18-260 0z" fill="url(#${id}l)"/>
    <path d="M370 490c80 18 180 18 260 0M370 640c80 18 180 18 260 0" fill="none" stroke="${mix(accent, dark, 0.2)}" stroke-width="4"/>
    <path d="M500 516c44 24 44 80 0 106-44-26-44-82 0-106z" fill="${mix(light, dark, 0.5)}"/><path d="M500 520v116M500 566l18-16M500 590l-20-18M500 606l16-14" stroke="${CREAM}" stroke-width="4" fill="none"/>
    <path d="M420 652h160" stroke="${dark}" stroke-width="0"/>
    <path d="M370 396h260v332c0 8-116 18-130 18s-130-10-130-18z" fill="url(#${id}c)"/>
    <path d="M362 340c0 14 276 14 276 0v64c0 22-276 22-276 0z" fill="url(#${id}b)"/>
    <ellipse cx="500" cy="338" rx="138" ry="26" fill="${lighten(mix(light, dark, 0.35), 0.22)}"/><ellipse cx="500" cy="340" rx="118" ry="20" fill="${mix(light, dark, 0.45)}"/>
    <path d="M362 404c0 22 276 22 276 0" fill="none" stroke="${darken(dark, 0.5)}" stroke-width="5" stroke-opacity=".5"/>
    ${gloss('M410 430v270', 0.6)}`,
  },
  jar: {
    outline: `${JAR}M370 318h260v84H370z`,
    focus: [470, 520, 380],
    foot: 160,
    draw: ({ id, palette: { light, dark, accent } }) => `
    <defs>${linear(`${id}a`, [
      [0, mix(light, dark, 0.65)],
      [0.08, lighten(light, 0.35)],
      [0.2, light],
      [0.5, mix(light, dark, 0.35)],
      [0.8, mix(light, dark, 0.8)],
      [0.95, lighten(light, 0.1)],
      [1, dark],
    ])}
      ${linear(
        `${id}v`,
        [
          [0, '#fff', 0.3],
          [0.3, '#fff', 0],
          [0.8, light, 0.1],
          [1, lighten(light, 0.3), 0.75],
        ],
        true,
      )}
      ${roundLight(`${id}b`, mix('#d8c9a8', dark, 0.1), mix(darken(dark, 0.5), '#6b5a3c', 0.4))}${roundLight(`${id}l`, CREAM, darken(CREAM, 0.36))}</defs>
    <path d="${JAR}" fill="url(#${id}a)"/><path d="${JAR}" fill="url(#${id}v)"/>
    <path d="M384 400h232" stroke="#fff" stroke-width="8" stroke-opacity=".4"/>
    <path d="M340 520c100 22 220 22 320 0v140c-100 22-220 22-320 0z" fill="url(#${id}l)"/>
    <path d="M350 534c96 20 204 20 300 0v112c-96 20-204 20-300 0z" fill="none" stroke="${darken(dark, 0.1)}" stroke-width="2.5"/>
    <g fill="${mix(accent, light, 0.5)}" stroke="${darken(dark, 0.1)}" stroke-width="3"><path d="m476 556 24 14v28l-24 14-24-14v-28zM524 556l24 14v28l-24 14-24-14v-28zM500 598l24 14v26l-24 12-24-12v-26z"/></g>
    <path d="M372 322c0 12 256 12 256 0v76c0 18-256 18-256 0z" fill="url(#${id}b)"/>
    <g stroke="#000" stroke-opacity=".16" stroke-width="3">${Array.from({ length: 24 }, (_, i) => `<path d="M${380 + i * 10.5} 338v58"/>`).join('')}</g>
    <ellipse cx="500" cy="322" rx="128" ry="23" fill="${lighten(mix('#d8c9a8', dark, 0.1), 0.3)}"/>
    ${gloss('M366 470c-8 60-8 130 0 210', 0.75)}`,
  },
  bar: {
    outline: 'M236 520l460-86 62 206-470 100z',
    focus: [400, 570, 360],
    foot: 230,
    draw: ({ id, palette: { light, dark, accent } }) => {
      const piece = (column: number, row: number) => {
        const [x, y] = [212 + column * 78, 470 + row * 78]
        return `<path d="M${x} ${y}h74v74h-74z" fill="#4a2818"/><path d="M${x} ${y}h74l-12 12h-50v50l-12 12z" fill="#7a4a30"/><path d="M${x + 74} ${y}v74h-74l12-12h50v-50z" fill="#2a140b"/><path d="M${x + 12} ${y + 12}h50v50h-50z" fill="#54301d"/><path d="M${x + 16} ${y + 18}h34" stroke="#9a6a4a" stroke-width="4" stroke-opacity=".6"/>`
      }
      const flakes = randomOf(seedOf(id))
      return `<defs>${linear(
        `${id}a`,
        [
          [0, lighten(light, 0.22)],
          [0.5, light],
          [1, mix(light, dark, 0.7)],
        ],
        true,
      )}${linear(`${id}f`, [
        [0, '#8d8a86'],
        [0.2, '#f5f2ec'],
        [0.45, '#a9a5a0'],
        [0.7, '#efece6'],
        [1, '#8a8681'],
      ])}${linear(
        `${id}l`,
        [
          [0, CREAM],
          [1, darken(CREAM, 0.16)],
        ],
        true,
      )}</defs>
    <g transform="rotate(-11 500 600)">
      <path d="M204 716h560l10 20H214z" fill="#000" fill-opacity=".28"/>
      ${[0, 1, 2].flatMap((row) => [0, 1, 2].map((column) => piece(column, row))).join('')}
      <g fill="#fff">${Array.from({ length: 26 }, () => `<rect x="${(216 + 200 * flakes()).toFixed(0)}" y="${(474 + 220 * flakes()).toFixed(0)}" width="${(3 + 5 * flakes()).toFixed(1)}" height="${(2 + 4 * flakes()).toFixed(1)}" transform="rotate(0)" fill-opacity=".85"/>`).join('')}</g>
      <path d="M446 458l-26 34 18 30-26 34 20 34-24 36 22 30-20 34 26 24h70V452z" fill="url(#${id}f)"/>
      <path d="M420 492l40 12M438 522l36 10M412 556l44 8M432 590l34 6M408 626l46 6M430 656l36 4" stroke="#6f6b66" stroke-width="3" stroke-opacity=".5"/>
      <rect x="470" y="454" width="300" height="264" rx="6" fill="url(#${id}a)"/>
      <path d="M470 454h300v10H470z" fill="#fff" fill-opacity=".28"/><path d="M470 704h300v14H470z" fill="#000" fill-opacity=".22"/>
      <rect x="526" y="506" width="196" height="160" rx="3" fill="url(#${id}l)"/><rect x="536" y="516" width="176" height="140" fill="none" stroke="${dark}" stroke-width="2.5"/>
      <circle cx="624" cy="566" r="28" fill="${accent}"/><path d="M596 570h56M600 580h48M608 590h32" stroke="${CREAM}" stroke-width="3"/>
      <path d="M566 622h116" stroke="${dark}" stroke-width="8"/><path d="M584 640h80" stroke="${dark}" stroke-width="4" stroke-opacity=".7"/>
    </g>`
    },
  },
} satisfies Record<string, Drawing>
