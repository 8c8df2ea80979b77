import { CREAM, type Drawing, gloss, seedOf } from './brush.ts'
import {
  darken,
  fadeBelow,
  innerLight,
  lighten,
  linear,
  mix,
  radial,
  randomOf,
  roundLight,
  speckles,
  weave,
} from './paint.ts'
import { PANTRY } from './pantry.ts'

/** The base of a vessel without glaze, where the dipping ended. */
const bareClay = (d: string, colour: string) =>
  `<path d="${d}" fill="${colour}" fill-opacity=".82"/>`

const MUG = 'M352 400h300v228c0 66-38 112-104 112h-92c-66 0-104-46-104-112z'
const BOWL = 'M238 478h524c0 132-86 226-176 250l-6 12H420l-6-12c-90-24-176-118-176-250z'
const POT =
  'M312 580c0-112 82-172 188-172s188 60 188 172c0 92-60 160-150 160h-76c-90 0-150-68-150-160z'
const VASE =
  'M452 330h96c-4 60 6 92 44 142 34 44 52 84 52 136 0 76-46 132-110 132h-68c-64 0-110-56-110-132 0-52 18-92 52-136 38-50 48-82 44-142z'
const CUSHION =
  'M262 330c60 24 130 34 238 34s178-10 238-34c16-6 26 4 20 20-22 58-32 112-32 182s10 126 32 184c6 16-4 26-20 20-60-22-130-30-238-30s-178 8-238 30c-16 6-26-4-20-20 22-58 32-114 32-184s-10-124-32-182c-6-16 4-26 20-20z'

/** Paper that lies in the envelope and stands out of it. */
const CARD = 'M318 330h364a20 20 0 0 1 20 20v270H298V350a20 20 0 0 1 20-20z'
const ENVELOPE =
  'M262 478c0-8 8-10 14-6l206 150c12 8 24 8 36 0l206-150c6-4 14-2 14 6v250a12 12 0 0 1-12 12H274a12 12 0 0 1-12-12z'

export const MOTIFS = {
  mug: {
    outline: `${MUG}M640 462h46c120 0 120 196 0 196h-50v-46h46c58 0 58-104 0-104h-42z`,
    focus: [560, 500, 380],
    foot: 150,
    draw: ({ id, palette: { light, dark } }) => `
    <defs>${roundLight(`${id}a`, light, dark)}${innerLight(`${id}b`, lighten(light, 0.3), dark)}${fadeBelow(`${id}c`)}
      ${radial(`${id}d`, [
        [0, '#7a4a26'],
        [0.72, '#3b2114'],
        [1, '#8a5a34'],
      ])}
      <clipPath id="${id}e"><path d="${MUG}"/></clipPath></defs>
    <path d="M640 482h46c88 0 88 158 0 158h-52" fill="none" stroke="${darken(dark, 0.1)}" stroke-width="44"/>
    <path d="M640 476h46c84 0 84 152 0 152h-52" fill="none" stroke="${mix(light, dark, 0.55)}" stroke-width="26"/>
    <path d="M650 470h38c34 0 58 24 62 56" fill="none" stroke="${lighten(light, 0.45)}" stroke-width="7" stroke-linecap="round" stroke-opacity=".8"/>
    <path d="${MUG}" fill="url(#${id}a)"/>
    <g clip-path="url(#${id}e)">
      ${bareClay('M340 640c60 16 90-4 150 6s110-12 180 2v110H340z', mix('#c79a72', dark, 0.3))}
      <path d="M340 640c60 16 90-4 150 6s110-12 180 2" fill="none" stroke="${lighten(light, 0.4)}" stroke-width="5" stroke-opacity=".5"/>
      ${speckles(seedOf(id), { x: 350, y: 410, w: 304, h: 330 }, darken(dark, 0.45))}
      <path d="${MUG}" fill="url(#${id}c)"/></g>
    ${gloss('M420 450c-6 70-4 130 8 190')}
    <ellipse cx="502" cy="400" rx="150" ry="38" fill="${lighten(light, 0.35)}"/>
    <ellipse cx="502" cy="402" rx="137" ry="31" fill="url(#${id}b)"/>
    <path d="M371 414a137 31 0 0 0 262 0c-30-16-82-24-131-24s-101 8-131 24z" fill="url(#${id}d)"/>
    <path d="M420 420c40-10 80-8 96-2" stroke="#d8b48a" stroke-width="5" fill="none" stroke-opacity=".6" stroke-linecap="round"/>`,
  },
  bowl: {
    outline: BOWL,
    focus: [400, 520, 420],
    foot: 110,
    draw: ({ id, palette: { light, dark, accent } }) => `
    <defs>${roundLight(`${id}a`, light, dark)}${fadeBelow(`${id}c`, 0.5)}
      ${radial(
        `${id}b`,
        [
          [0, darken(dark, 0.25)],
          [0.55, dark],
          [0.9, mix(dark, light, 0.6)],
          [1, lighten(light, 0.2)],
        ],
        'cx=".55" cy=".2" r=".8"',
      )}
      <clipPath id="${id}e"><path d="${BOWL}"/></clipPath></defs>
    <path d="M420 716h160v18a8 8 0 0 1-8 8H428a8 8 0 0 1-8-8z" fill="${darken(dark, 0.35)}"/>
    <path d="${BOWL}" fill="url(#${id}a)"/>
    <g clip-path="url(#${id}e)">
      ${bareClay('M220 690c90 18 160-8 270 6s190-14 290 0v80H220z', mix(accent, dark, 0.35))}
      ${speckles(seedOf(id) + 3, { x: 240, y: 480, w: 520, h: 250 }, darken(dark, 0.4), 220)}
      <g fill="none" stroke="${darken(dark, 0.2)}" stroke-width="2" stroke-opacity=".2"><path d="M246 540q254 90 508 0M262 590q238 84 476 0M296 640q204 70 408 0"/></g>
      <path d="${BOWL}" fill="url(#${id}c)"/></g>
    ${gloss('M300 540c14 60 44 108 80 138', 0.42)}
    <ellipse cx="500" cy="478" rx="262" ry="66" fill="${mix(lighten(light, 0.45), accent, 0.3)}"/>
    <ellipse cx="500" cy="481" rx="247" ry="57" fill="url(#${id}b)"/>
    <path d="M280 500c40-44 120-66 220-66" stroke="#fff" stroke-width="7" fill="none" stroke-opacity=".3" stroke-linecap="round"/>
    <path d="M560 530c70-4 130-16 168-34" stroke="${lighten(light, 0.55)}" stroke-width="8" fill="none" stroke-opacity=".55" stroke-linecap="round"/>`,
  },
  plates: {
    outline: 'M222 580h556v40c0 60-60 120-278 120s-278-60-278-120z',
    focus: [360, 610, 400],
    foot: 210,
    draw: ({ id, palette: { light, dark, accent } }) => `
    <defs>${[light, accent]
      .map(
        (each, i) =>
          roundLight(`${id}a${i}`, each, i ? darken(accent, 0.4) : dark) +
          radial(`${id}b${i}`, [
            [0, mix(each, i ? darken(accent, 0.4) : dark, 0.28)],
            [0.6, each],
            [0.94, lighten(each, 0.35)],
            [1, mix(each, dark, 0.2)],
          ]),
      )
      .join('')}</defs>
    ${[690, 656, 622, 588]
      .map(
        (
          y,
          i,
        ) => `<path d="M222 ${y}a278 62 0 0 0 556 0c0 14-40 34-110 46a600 90 0 0 1-336 0c-70-12-110-32-110-46z" fill="url(#${id}a${i % 2})"/>
        <path d="M222 ${y}a278 62 0 0 0 556 0v12a278 62 0 0 1-556 0z" fill="url(#${id}a${i % 2})"/>
        <ellipse cx="500" cy="${y}" rx="278" ry="62" fill="url(#${id}b${i % 2})"/>`,
      )
      .join('')}
    <ellipse cx="500" cy="590" rx="196" ry="40" fill="none" stroke="${darken(dark, 0.1)}" stroke-width="3" stroke-opacity=".28"/>
    <ellipse cx="506" cy="594" rx="190" ry="36" fill="#fff" fill-opacity=".12"/>
    ${speckles(seedOf(id) + 5, { x: 260, y: 560, w: 480, h: 60 }, darken(dark, 0.4), 70)}
    ${gloss('M290 572c60-26 130-36 200-36', 0.55)}`,
  },
  teapot: {
    outline: `${POT}M676 560c60-16 74-92 132-120l30 34c-46 42-52 160-160 190zM330 520c-110-40-150 150 6 170v-40c-90-12-80-112-6-90zM420 410a86 56 0 0 1 160 0z`,
    focus: [640, 520, 420],
    foot: 130,
    draw: ({ id, palette: { light, dark, accent } }) => `
    <defs>${roundLight(`${id}a`, light, dark)}${fadeBelow(`${id}c`, 0.42)}${linear(
      `${id}s`,
      [
        [0, mix(light, dark, 0.4)],
        [0.5, mix(light, dark, 0.75)],
        [1, darken(dark, 0.1)],
      ],
      true,
    )}
      ${radial(
        `${id}k`,
        [
          [0, lighten(accent, 0.6)],
          [0.6, accent],
          [1, darken(accent, 0.4)],
        ],
        'cx=".35" cy=".3" r=".8"',
      )}
      <clipPath id="${id}e"><path d="${POT}"/></clipPath></defs>
    <path d="M332 506c-116-32-146 156 8 174" fill="none" stroke="${darken(dark, 0.2)}" stroke-width="38" stroke-linecap="round"/>
    <path d="M332 500c-112-30-140 148 4 170" fill="none" stroke="${mix(light, dark, 0.4)}" stroke-width="22" stroke-linecap="round"/>
    <path d="M318 500c-60-10-88 40-84 84" fill="none" stroke="${lighten(light, 0.5)}" stroke-width="6" stroke-linecap="round" stroke-opacity=".7"/>
    <path d="M672 566c70-18 76-98 128-130 10-6 26 0 34 10s10 22 2 30c-46 46-52 160-164 192z" fill="url(#${id}s)"/>
    <path d="M700 552c46-24 58-78 96-104" fill="none" stroke="${lighten(light, 0.5)}" stroke-width="9" stroke-linecap="round" stroke-opacity=".55"/>
    <ellipse cx="816" cy="454" rx="26" ry="12" transform="rotate(38 816 454)" fill="${darken(dark, 0.5)}"/>
    <path d="${POT}" fill="url(#${id}a)"/>
    <g clip-path="url(#${id}e)">${bareClay('M300 690c70 10 130-6 210 2s130-8 200 2v60H300z', mix('#c79a72', dark, 0.3))}
      ${speckles(seedOf(id) + 9, { x: 310, y: 410, w: 380, h: 330 }, darken(dark, 0.45), 190)}
      <path d="${POT}" fill="url(#${id}c)"/></g>
    ${gloss('M396 476c-32 40-42 96-30 150')}
    <ellipse cx="500" cy="424" rx="112" ry="24" fill="${darken(dark, 0.3)}"/>
    <path d="M390 418c20-46 60-62 110-62s90 16 110 62c-30 14-190 14-220 0z" fill="url(#${id}a)"/>
    <path d="M430 392c18-16 36-22 56-22" stroke="#fff" stroke-width="8" stroke-opacity=".5" fill="none" stroke-linecap="round"/>
    <ellipse cx="500" cy="354" rx="20" ry="8" fill="${darken(dark, 0.3)}"/><circle cx="500" cy="334" r="26" fill="url(#${id}k)"/>`,
  },
  vase: {
    outline: VASE,
    focus: [480, 520, 360],
    foot: 96,
    draw: ({ id, palette: { light, dark, accent } }) => {
      const random = randomOf(seedOf(id))
      const stems = [
        [356, 150],
        [430, 92],
        [520, 60],
        [604, 104],
        [668, 170],
      ] as const
      return `
    <defs>${roundLight(`${id}a`, light, dark)}${fadeBelow(`${id}c`, 0.42)}
      ${radial(
        `${id}k`,
        [
          [0, lighten(accent, 0.45)],
          [0.65, accent],
          [1, darken(accent, 0.34)],
        ],
        'cx=".36" cy=".3" r=".8"',
      )}
      <clipPath id="${id}e"><path d="${VASE}"/></clipPath></defs>
    <g fill="none" stroke="#66714c" stroke-width="6" stroke-linecap="round">${stems.map(([x, y]) => `<path d="M500 350C${500 + (x - 500) * 0.1} 260 ${x} 240 ${x} ${y}"/>`).join('')}</g>
    <g fill="#7d8a5d">${stems.map(([x, y], i) => `<path d="M${(x + 500) / 2} ${y + 130}q${i % 2 ? 44 : -44}-30 ${i % 2 ? 60 : -60}-4q${i % 2 ? -26 : 26} 26 ${i % 2 ? -60 : 60} 4z"/>`).join('')}</g>
    ${stems
      .map(
        ([x, y]) =>
          `<circle cx="${x}" cy="${y}" r="36" fill="url(#${id}k)"/><g fill="${darken(accent, 0.42)}">${Array.from(
            { length: 46 },
            () => {
              const [a, r] = [random() * 6.28, 34 * Math.sqrt(random())]
              return `<circle cx="${(x + r * Math.cos(a)).toFixed(1)}" cy="${(y + r * Math.sin(a)).toFixed(1)}" r="2.6" fill-opacity=".34"/>`
            },
          ).join('')}</g>`,
      )
      .join('')}
    <ellipse cx="500" cy="332" rx="48" ry="13" fill="${darken(dark, 0.45)}"/>
    <path d="${VASE}" fill="url(#${id}a)"/>
    <g clip-path="url(#${id}e)">
      <path d="M340 520c60 30 100-8 170 14s110-14 170 4v210H340z" fill="${darken(dark, 0.12)}" fill-opacity=".42"/>
      <path d="M340 520c60 30 100-8 170 14s110-14 170 4" fill="none" stroke="${lighten(light, 0.4)}" stroke-width="5" stroke-opacity=".55"/>
      ${speckles(seedOf(id) + 2, { x: 350, y: 340, w: 300, h: 400 }, darken(dark, 0.45), 170)}
      <path d="${VASE}" fill="url(#${id}c)"/></g>
    <path d="M452 330a48 13 0 0 0 96 0" fill="none" stroke="${lighten(light, 0.45)}" stroke-width="7"/>
    ${gloss('M420 528c-20 32-28 70-20 110', 0.55)}`
    },
  },
  lamp: {
    outline: 'M412 226h176l96 248H508v236c60 2 108 12 108 30H384c0-18 48-28 108-30V474H316z',
    focus: [500, 420, 440],
    foot: 120,
    draw: ({ id, palette: { light, dark, accent }, lit = true }) => `
    <defs>${roundLight(`${id}a`, lit ? mix(light, accent, 0.55) : light, lit ? mix(dark, accent, 0.35) : dark)}${roundLight(`${id}m`, mix('#c9c2b4', dark, 0.35), darken(dark, 0.4))}${weave(`${id}w`, 7, 0.2)}
      ${radial(`${id}g`, [
        [0, accent, 0.75],
        [0.4, accent, 0.28],
        [1, accent, 0],
      ])}
      ${radial(`${id}h`, [
        [0, '#fff6dc', 0.95],
        [0.5, accent, 0.6],
        [1, accent, 0],
      ])}</defs>
    ${lit ? `<circle cx="500" cy="400" r="400" fill="url(#${id}g)"/>` : ''}
    <path d="M384 722c0-16 52-26 116-26s116 10 116 26v8c0 8-52 12-116 12s-116-4-116-12z" fill="url(#${id}m)"/>
    <ellipse cx="500" cy="718" rx="114" ry="20" fill="${mix('#c9c2b4', dark, 0.5)}"/>
    <rect x="489" y="450" width="22" height="270" fill="url(#${id}m)"/>
    <path d="M412 226h176l96 248c-60 22-308 22-368 0z" fill="url(#${id}a)"/>
    <path d="M412 226h176l96 248c-60 22-308 22-368 0z" fill="url(#${id}w)"/>
    ${lit ? `<ellipse cx="500" cy="390" rx="150" ry="120" fill="url(#${id}h)" fill-opacity=".75"/>` : ''}
    <path d="M412 226c40 8 136 8 176 0v12c-40 8-136 8-176 0z" fill="${darken(dark, 0.1)}" fill-opacity=".55"/>
    <path d="M316 474c60 22 308 22 368 0l-4-12c-60 20-300 20-360 0z" fill="${darken(dark, 0.1)}" fill-opacity=".5"/>
    ${lit ? `<ellipse cx="500" cy="760" rx="300" ry="44" fill="url(#${id}g)"/>` : ''}`,
  },
  candle: {
    outline: 'M378 392h244v330a18 18 0 0 1-18 18H396a18 18 0 0 1-18-18z',
    focus: [500, 430, 400],
    foot: 124,
    draw: ({ id, palette: { light, dark, accent }, lit = true }) => `
    <defs>${roundLight(`${id}a`, light, dark)}${fadeBelow(`${id}c`)}${linear(`${id}p`, [
      [0, darken(CREAM, 0.1)],
      [0.3, CREAM],
      [1, darken(CREAM, 0.2)],
    ])}
      ${radial(`${id}g`, [
        [0, '#ffd58a', 0.85],
        [0.35, '#ffb04a', 0.3],
        [1, '#ff9a3c', 0],
      ])}
      ${linear(
        `${id}f`,
        [
          [0, '#fff7d6'],
          [0.55, '#ffcf63'],
          [0.85, '#f08a2c'],
          [1, '#6a86d8', 0.5],
        ],
        true,
      )}
      ${radial(
        `${id}i`,
        [
          [0, '#fff3d0'],
          [0.5, lighten(light, 0.4)],
          [1, mix(light, dark, 0.35)],
        ],
        'cx=".5" cy=".4"',
      )}</defs>
    ${lit ? `<circle cx="500" cy="330" r="330" fill="url(#${id}g)"/>` : ''}
    <path d="M378 392h244v330a18 18 0 0 1-18 18H396a18 18 0 0 1-18-18z" fill="url(#${id}a)"/>
    <path d="M378 392h244v330a18 18 0 0 1-18 18H396a18 18 0 0 1-18-18z" fill="url(#${id}c)"/>
    <ellipse cx="500" cy="392" rx="122" ry="29" fill="${lighten(light, 0.5)}"/>
    <ellipse cx="500" cy="394" rx="113" ry="24" fill="${mix(light, dark, 0.5)}"/>
    <ellipse cx="500" cy="406" rx="107" ry="21" fill="url(#${id}i)"/>
    <path d="M500 404c-2-18 2-28 4-40" stroke="#2a1d14" stroke-width="6" fill="none" stroke-linecap="round"/>
    ${lit ? `<path d="M503 236c34 56 40 84 26 116-10 20-42 20-52 0-14-32-4-62 26-116z" fill="url(#${id}f)"/><path d="M503 300c12 22 14 34 8 46-4 8-14 8-18 0-4-14 0-26 10-46z" fill="#fffbe8"/>` : ''}
    <path d="M404 520c64 14 128 14 192 0v128c-64 14-128 14-192 0z" fill="url(#${id}p)"/>
    <path d="M416 534c56 11 112 11 168 0v100c-56 11-112 11-168 0z" fill="none" stroke="${dark}" stroke-width="2.5"/>
    <path d="M500 552c20 16 20 36 0 52-20-16-20-36 0-52zM500 566v52" fill="none" stroke="${accent === CREAM ? dark : darken(accent, 0.25)}" stroke-width="4"/>
    <path d="M452 626h96" stroke="${dark}" stroke-width="4" stroke-opacity=".7"/>
    ${gloss('M404 430v250', 0.55)}`,
  },
  blanket: {
    outline:
      'M262 480c0-30 30-44 60-44h356c30 0 60 14 60 44v220c0 30-20 40-50 40H312c-30 0-50-10-50-40z',
    focus: [380, 580, 380],
    foot: 240,
    draw: ({ id, palette: { light, dark, accent } }) => {
      const tones = [light, mix(light, dark, 0.75), mix(light, accent, 0.45)]
      const random = randomOf(seedOf(id))
      const fold = (y: number, i: number) => {
        const colour = tones[i] ?? light
        const d = `M${262 + i * 7} ${y + 52}c0-40 26-54 60-54 110-10 ${246 - 14 * i}-10 ${356 - 14 * i} 0 36 2 60 16 60 54s-26 50-60 52c-120 6-236 6-${356 - 14 * i} 0-36-2-60-14-60-52z`
        return `<defs>${linear(
          `${id}f${i}`,
          [
            [0, lighten(colour, 0.3)],
            [0.35, colour],
            [0.72, darken(colour, 0.16)],
            [1, darken(colour, 0.42)],
          ],
          true,
        )}</defs>
        <path d="${d}" fill="url(#${id}f${i})"/><path d="${d}" fill="url(#${id}w)"/>
        <path d="M${290 + i * 6} ${y + 50}c120 16 300 16 420 0" fill="none" stroke="${darken(colour, 0.55)}" stroke-width="5" stroke-opacity=".55"/>
        <path d="M${300 + i * 6} ${y + 22}c110-9 280-9 400 0" fill="none" stroke="${lighten(tones[(i + 2) % 3] ?? light, 0.1)}" stroke-width="11" stroke-opacity=".55"/>`
      }
      const fringe = Array.from({ length: 46 }, (_, i) => {
        const x = 300 + i * 8.9
        return `<path d="M${x.toFixed(0)} 728q${((random() - 0.5) * 10).toFixed(1)} 14 ${((random() - 0.5) * 12).toFixed(1)} ${(26 + 12 * random()).toFixed(0)}"/>`
      })
      return `<defs>${weave(`${id}w`, 9, 0.17)}</defs>
      <g fill="none" stroke="${darken(tones[0] ?? light, 0.12)}" stroke-width="5" stroke-linecap="round">${fringe.join('')}</g>
      ${[640, 540, 440].map(fold).join('')}`
    },
  },
  cushion: {
    outline: CUSHION,
    focus: [370, 440, 360],
    foot: 230,
    draw: ({ id, palette: { light, dark, accent } }) => `
    <defs>${radial(
      `${id}a`,
      [
        [0, lighten(light, 0.28)],
        [0.5, light],
        [0.85, mix(light, dark, 0.6)],
        [1, dark],
      ],
      'cx=".4" cy=".36" r=".78"',
    )}${weave(`${id}w`, 8, 0.17)}
      <clipPath id="${id}e"><path d="${CUSHION}"/></clipPath></defs>
    <path d="${CUSHION}" fill="url(#${id}a)"/>
    <g clip-path="url(#${id}e)" fill="none" stroke="${accent}" stroke-opacity=".85">
      <path d="M372 330q-34 200 0 420" stroke-width="20"/><path d="M414 330q-26 200 0 420" stroke-width="7"/>
      <path d="M628 330q34 200 0 420" stroke-width="20"/><path d="M586 330q26 200 0 420" stroke-width="7"/></g>
    <path d="${CUSHION}" fill="url(#${id}w)"/>
    <path d="${CUSHION}" fill="none" stroke="${darken(dark, 0.15)}" stroke-width="5" stroke-opacity=".55"/>
    <g fill="none" stroke="${darken(dark, 0.3)}" stroke-width="9" stroke-linecap="round" stroke-opacity=".16"><path d="M286 356c40 40 70 60 110 76M714 356c-40 40-66 58-100 72M290 714c36-40 66-60 104-76M712 712c-36-40-60-58-98-74"/></g>`,
  },
  envelope: {
    outline: 'M262 470l56-40v-80a20 20 0 0 1 20-20h324a20 20 0 0 1 20 20v80l56 40v270H262z',
    focus: [560, 450, 400],
    foot: 236,
    draw: ({ id, palette: { light, dark, accent } }) => `
    <defs>${linear(`${id}p`, [
      [0, darken(CREAM, 0.04)],
      [0.36, CREAM],
      [1, darken(CREAM, 0.18)],
    ])}${linear(
      `${id}q`,
      [
        [0, darken(CREAM, 0.14)],
        [1, darken(CREAM, 0.42)],
      ],
      true,
    )}${linear(`${id}a`, [
      [0, lighten(light, 0.24)],
      [0.42, light],
      [1, mix(light, dark, 0.7)],
    ])}${linear(`${id}r`, [
      [0, lighten(accent, 0.3)],
      [0.5, accent],
      [1, darken(accent, 0.2)],
    ])}${fadeBelow(`${id}c`, 0.24)}${weave(`${id}w`, 7, 0.07)}
      <clipPath id="${id}e"><path d="${CARD}"/></clipPath></defs>
    <path d="M262 474l214-158c15-11 33-11 48 0l214 158z" fill="url(#${id}q)"/>
    <path d="M264 470h472v262H264z" fill="${darken(CREAM, 0.34)}"/>
    <g transform="rotate(-3 500 480)">
      <path d="${CARD}" transform="translate(7 8)" fill="#1d120b" fill-opacity=".2"/>
      <path d="${CARD}" fill="url(#${id}a)"/><path d="${CARD}" fill="url(#${id}w)"/>
      <g clip-path="url(#${id}e)">
        <path d="M298 420h404v34H298z" fill="${darken(accent, 0.08)}"/><path d="M298 420h404v7H298z" fill="#fff" fill-opacity=".3"/>
        <path d="M576 330h38v300h-38z" fill="url(#${id}r)"/>
        <path d="M298 330h404v10H298z" fill="#fff" fill-opacity=".28"/></g>
      <path d="M338 372h112" stroke="${CREAM}" stroke-width="9" stroke-linecap="round"/><path d="M338 396h70" stroke="${CREAM}" stroke-width="5" stroke-linecap="round" stroke-opacity=".75"/>
      <g fill="url(#${id}r)" stroke="${darken(accent, 0.34)}" stroke-width="3" stroke-linejoin="round">
        <path d="M595 440l-58 84 10 6 26-6 10 22 24-96zM595 440l58 84-10 6-26-6-10 22-24-96z"/>
        <path d="M595 438c-26-70-116-74-112-24 4 42 70 44 112 24zM595 438c26-70 116-74 112-24-4 42-70 44-112 24z"/></g>
      <g fill="none" stroke="${darken(accent, 0.34)}" stroke-width="3" stroke-opacity=".5" stroke-linecap="round"><path d="M582 428c-22-26-56-34-74-22M608 428c22-26 56-34 74-22"/></g>
      <rect x="575" y="416" width="40" height="42" rx="12" fill="${accent}" stroke="${darken(accent, 0.34)}" stroke-width="3"/>
    </g>
    <path d="${ENVELOPE}" transform="translate(0 -5)" fill="#1d120b" fill-opacity=".14"/>
    <path d="${ENVELOPE}" fill="url(#${id}p)"/><path d="${ENVELOPE}" fill="url(#${id}c)"/>
    <path d="M268 734l206-140M732 734L526 594" fill="none" stroke="${darken(CREAM, 0.4)}" stroke-width="3.5" stroke-opacity=".5"/>
    <path d="M274 470l208 152c12 8 24 8 36 0l208-152" fill="none" stroke="#fff" stroke-width="4" stroke-opacity=".8"/>`,
  },
  ...PANTRY,
} satisfies Record<string, Drawing>

/** The objects that the drawings of the samples show. */
export type Motif = keyof typeof MOTIFS
