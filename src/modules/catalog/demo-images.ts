/** The objects that the images of the samples show. */
export type Motif =
  | 'mug'
  | 'bowl'
  | 'plates'
  | 'teapot'
  | 'vase'
  | 'lamp'
  | 'candle'
  | 'blanket'
  | 'cushion'
  | 'bag'
  | 'tin'
  | 'jar'
  | 'bar'

export interface Palette {
  /** The wall, and the table in front of it. */
  wall: string
  table: string
  /** The object: its light side, its dark side, and its details. */
  light: string
  dark: string
  accent: string
  /** The colour of the light in a dark room. */
  lamp?: string
}

const SIDE = 1_000

/**
 * Each object stands on the line y = 740, in the middle. `url(#body)` is a gradient from light to
 * dark.
 */
const MOTIFS: Record<Motif, (palette: Palette) => string> = {
  mug: ({ dark }) => `
    <path d="M640 470h52a92 92 0 0 1 0 184h-60" fill="none" stroke="${dark}" stroke-width="40"/>
    <path d="M360 400h290v230a110 110 0 0 1-110 110h-70a110 110 0 0 1-110-110z" fill="url(#body)"/>
    <ellipse cx="505" cy="400" rx="145" ry="34" fill="${dark}"/>
    <ellipse cx="505" cy="406" rx="122" ry="24" fill="#3b2418"/>`,
  bowl: ({ light, dark }) => `
    <path d="M250 500h500c0 140-110 240-250 240S250 640 250 500z" fill="url(#body)"/>
    <ellipse cx="500" cy="500" rx="250" ry="56" fill="${dark}"/>
    <ellipse cx="500" cy="508" rx="222" ry="42" fill="${light}" opacity=".55"/>
    <rect x="430" y="722" width="140" height="22" rx="11" fill="${dark}"/>`,
  plates: ({ light, dark, accent }) =>
    `${[700, 660, 620, 580]
      .map(
        (y, i) => `
    <ellipse cx="500" cy="${y + 14}" rx="270" ry="58" fill="${dark}"/>
    <ellipse cx="500" cy="${y}" rx="270" ry="58" fill="${i % 2 ? accent : light}"/>`,
      )
      .join('')}<ellipse cx="500" cy="584" rx="180" ry="34" fill="${dark}" opacity=".22"/>`,
  teapot: ({ dark, accent }) => `
    <path d="M680 560c70-10 80-90 130-120l26 30c-40 40-50 160-160 190z" fill="${dark}"/>
    <path d="M330 500c-120-30-150 170 10 180" fill="none" stroke="${dark}" stroke-width="34"/>
    <path d="M320 580c0-110 80-170 185-170s185 60 185 170-80 160-185 160-185-50-185-160z" fill="url(#body)"/>
    <path d="M400 430a105 46 0 0 1 210 0z" fill="${dark}"/>
    <circle cx="505" cy="372" r="24" fill="${accent}"/>`,
  vase: ({ light, dark, accent }) => `
    <g fill="none" stroke="#5d6b4d" stroke-width="9" stroke-linecap="round">
      <path d="M495 400C480 300 440 240 400 190M505 400c0-110 10-190 30-250M512 400c20-90 60-140 110-170"/>
    </g>
    <g fill="${accent}"><circle cx="396" cy="182" r="34"/><circle cx="536" cy="132" r="40"/><circle cx="630" cy="222" r="32"/></g>
    <path d="M460 390h84c0 70 86 120 86 220 0 80-50 130-128 130s-128-50-128-130c0-100 86-150 86-220z" fill="url(#body)"/>
    <ellipse cx="502" cy="390" rx="42" ry="12" fill="${dark}"/>
    <path d="M396 560q106 36 212 0" fill="none" stroke="${light}" stroke-width="10" opacity=".6"/>`,
  lamp: ({ dark, accent }) => `
    <circle cx="500" cy="420" r="330" fill="${accent}" opacity=".18"/>
    <rect x="490" y="440" width="20" height="270" fill="${dark}"/>
    <ellipse cx="500" cy="722" rx="120" ry="26" fill="${dark}"/>
    <path d="M410 240h180l90 230H320z" fill="url(#body)"/>
    <ellipse cx="500" cy="470" rx="180" ry="24" fill="${accent}"/>`,
  candle: ({ light, dark, accent }) => `
    <path d="M500 250c44 62 44 98 0 122-44-24-44-60 0-122z" fill="${accent}"/>
    <rect x="496" y="366" width="8" height="50" fill="#3a3028"/>
    <rect x="390" y="410" width="220" height="330" rx="18" fill="url(#body)"/>
    <ellipse cx="500" cy="412" rx="110" ry="24" fill="${light}"/>
    <rect x="420" y="540" width="160" height="110" rx="6" fill="#fffdf8"/>
    <path d="M446 580h108M462 606h76" stroke="${dark}" stroke-width="8"/>`,
  blanket: ({ light, dark, accent }) =>
    [640, 560, 480]
      .map(
        (y, i) => `
    <rect x="${270 + i * 6}" y="${y}" width="${460 - i * 12}" height="96" rx="44" fill="${i === 1 ? dark : 'url(#body)'}"/>
    <path d="M300 ${y + 30}h400M300 ${y + 62}h400" stroke="${i === 1 ? light : accent}" stroke-width="7" opacity=".5"/>`,
      )
      .join('') +
    `<g stroke="${accent}" stroke-width="8" stroke-linecap="round">${Array.from(
      { length: 12 },
      (_, i) => `<path d="M${310 + i * 34} 734v26"/>`,
    ).join('')}</g>`,
  cushion: ({ light, accent }) => `
    <path d="M300 340c120 34 280 34 400 0 34 120 34 270 0 390-120-34-280-34-400 0-34-120-34-270 0-390z" fill="url(#body)"/>
    <g fill="none" stroke="${accent}" stroke-width="12" opacity=".75">
      <path d="M420 358q-20 180 0 350M500 364v340M580 358q20 180 0 350"/>
    </g>
    <path d="M340 400q160 40 320 0" stroke="${light}" stroke-width="6" opacity=".6" fill="none"/>`,
  bag: ({ light, dark, accent }) => `
    <path d="M350 320h300l24 420H326z" fill="url(#body)"/>
    <path d="M350 320h300v-46H350z" fill="${dark}"/>
    <path d="M350 297h300" stroke="${light}" stroke-width="4" stroke-dasharray="10 8"/>
    <rect x="400" y="440" width="200" height="200" rx="100" fill="${accent}"/>
    <g fill="${dark}"><ellipse cx="476" cy="540" rx="28" ry="42" transform="rotate(24 476 540)"/>
      <ellipse cx="536" cy="540" rx="28" ry="42" transform="rotate(-20 536 540)"/></g>`,
  tin: ({ light, dark, accent }) => `
    <rect x="370" y="380" width="260" height="360" rx="14" fill="url(#body)"/>
    <rect x="360" y="340" width="280" height="70" rx="12" fill="${dark}"/>
    <rect x="370" y="480" width="260" height="160" fill="${accent}"/>
    <path d="M500 505c46 22 46 84 0 110-46-26-46-88 0-110zM500 505v110" fill="${light}" stroke="${dark}" stroke-width="5"/>`,
  jar: ({ light, dark, accent }) => `
    <path d="M380 400h240c34 40 44 90 44 160v130a50 50 0 0 1-50 50H386a50 50 0 0 1-50-50V560c0-70 10-120 44-160z" fill="url(#body)"/>
    <rect x="376" y="320" width="248" height="84" rx="14" fill="${dark}"/>
    <rect x="392" y="510" width="216" height="150" rx="8" fill="#fffaf0"/>
    <path d="m500 534 44 25v51l-44 25-44-25v-51z" fill="${accent}"/>
    <path d="M362 520q-6 60 0 150" stroke="${light}" stroke-width="12" opacity=".7" fill="none"/>`,
  bar: ({ light, dark, accent }) => `
    <g transform="rotate(-9 500 560)">
      <rect x="290" y="440" width="420" height="250" rx="14" fill="url(#body)"/>
      <rect x="290" y="440" width="150" height="250" rx="14" fill="#4a2b1c"/>
      <path d="M365 446v238M296 565h138" stroke="#371f14" stroke-width="9"/>
      <path d="M440 440l22 25-22 25 22 25-22 25 22 25-22 25 22 25-22 25 22 25-22 25V440z" fill="${light}"/>
      <rect x="500" y="510" width="170" height="110" rx="8" fill="${accent}"/>
      <path d="M524 548h122M540 582h90" stroke="${dark}" stroke-width="8"/>
    </g>`,
}

const sun = ({ lamp }: Palette): string => {
  const [colour, strength] = lamp === undefined ? ['#fff', 0.7] : [lamp, 0.3]
  return `<radialGradient id="sun" cx=".28" cy=".22" r=".9"><stop offset="0" stop-color="${colour}" stop-opacity="${strength}"/><stop offset="1" stop-color="${colour}" stop-opacity="0"/></radialGradient>`
}

/** An object on a table in front of a wall, lit from the left. */
function sampleSvg(motif: Motif, palette: Palette): string {
  const { wall, table, light, dark } = palette
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIDE} ${SIDE}" width="${SIDE}" height="${SIDE}">
    <defs>
      <linearGradient id="body"><stop offset="0" stop-color="${light}"/><stop offset="1" stop-color="${dark}"/></linearGradient>
      ${sun(palette)}
      <radialGradient id="shade"><stop offset="0" stop-color="#2a1d14" stop-opacity=".42"/><stop offset="1" stop-color="#2a1d14" stop-opacity="0"/></radialGradient>
    </defs>
    <rect width="${SIDE}" height="${SIDE}" fill="${wall}"/>
    <rect y="680" width="${SIDE}" height="320" fill="${table}"/>
    <rect width="${SIDE}" height="${SIDE}" fill="url(#sun)"/>
    <ellipse cx="560" cy="752" rx="330" ry="52" fill="url(#shade)"/>
    ${MOTIFS[motif](palette)}
  </svg>`
}

const WIDE = 1_600

interface Scene {
  palette: Palette
  /** From left to right, each with its scale. */
  objects: readonly (readonly [motif: Motif, x: number, scale: number])[]
}

/** Several objects on one table: the main image of a demo site. */
function sceneSvg({ palette, objects }: Scene): string {
  const { wall, table, light, dark } = palette
  const ground = 800
  const groups = objects.map(([motif, x, scale]) => {
    const place = `translate(${x - 500 * scale} ${ground - 740 * scale}) scale(${scale})`
    const shade = `<ellipse cx="560" cy="752" rx="330" ry="48" fill="url(#shade)"/>`
    return `<g transform="${place}">${shade}${MOTIFS[motif](palette)}</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDE} ${SIDE}" width="${WIDE}" height="${SIDE}">
    <defs>
      <linearGradient id="body"><stop offset="0" stop-color="${light}"/><stop offset="1" stop-color="${dark}"/></linearGradient>
      ${sun(palette)}
      <radialGradient id="shade"><stop offset="0" stop-color="#2a1d14" stop-opacity=".42"/><stop offset="1" stop-color="#2a1d14" stop-opacity="0"/></radialGradient>
    </defs>
    <rect width="${WIDE}" height="${SIDE}" fill="${wall}"/>
    <rect y="720" width="${WIDE}" height="280" fill="${table}"/>
    <rect width="${WIDE}" height="${SIDE}" fill="url(#sun)"/>
    ${groups.join('')}
  </svg>`
}

export const drawScene = (scene: Scene): Promise<Buffer> => renderJpeg(sceneSvg(scene))

export const drawImage = (motif: Motif, palette: Palette): Promise<Buffer> =>
  renderJpeg(sampleSvg(motif, palette))

/** Imports `sharp` on first use: most processes never draw an image. */
async function renderJpeg(svg: string): Promise<Buffer> {
  const { default: sharp } = await import('sharp')
  return sharp(Buffer.from(svg)).jpeg({ quality: 84 }).toBuffer()
}
