import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanSvg } from '../../../src/modules/media/images/svg.ts'

const NS = 'xmlns="http://www.w3.org/2000/svg"'
const clean = (text: string) => String(cleanSvg(Buffer.from(text)).clean)
const inside = (text: string) =>
  clean(`<svg>${text}</svg>`).slice(`<svg ${NS}>`.length, -'</svg>'.length)

test('an SVG of plain shapes is kept, and cleaning it again changes nothing', () => {
  const drawing = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg ${NS} xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 24.4 12" class="icon">
  <defs><linearGradient id="a"><stop offset="0" stop-color="#f00"/></linearGradient>
  <linearGradient id="b" xlink:href="#a"/></defs>
  <!-- a comment -->
  <g transform="translate(1,2) rotate(-45)" style="fill:url(#b);stroke-width: 2px"><path d="M0,0L1 1z"/></g>
  <text x="1">Caf\u00e9 &amp; <tspan>B&#228;r</tspan></text>
</svg>`
  const { clean: first, width, height } = cleanSvg(Buffer.from(drawing))
  assert.deepEqual([width, height], [24, 12])
  assert.equal(
    String(first),
    `<svg ${NS} viewBox="0 0 24.4 12"><defs><linearGradient id="a">` +
      '<stop offset="0" stop-color="#f00"></stop></linearGradient>' +
      '<linearGradient id="b" href="#a"></linearGradient></defs>' +
      '<g transform="translate(1,2) rotate(-45)" fill="url(#b)" stroke-width="2px">' +
      '<path d="M0,0L1 1z"></path></g><text x="1">Caf\u00e9 &amp; <tspan>B\u00e4r</tspan></text></svg>',
  )
  assert.ok(cleanSvg(first).clean.equals(first))
})

test('elements that run or load something are removed', () => {
  for (const text of [
    '<script>alert(1)</script>',
    '<script xlink:href="https://evil.example/x.js"/>',
    '<svg:script>alert(1)</svg:script>',
    '<SCRIPT>alert(1)</SCRIPT>',
    '<foreignObject><body><img src="x" onerror="alert(1)"/></body></foreignObject>',
    '<image href="https://evil.example/x.png"/>',
    '<image href="data:image/svg+xml;base64,AAAA"/>',
    '<a href="javascript:alert(1)"><path d="M0 0"/></a>',
    '<animate attributeName="href" values="javascript:alert(1)"/>',
    '<set attributeName="onclick" to="alert(1)"/>',
    '<iframe src="https://evil.example"/>',
    '<handler type="application/ecmascript">alert(1)</handler>',
    '<pattern id="p"><path d="M0 0"/></pattern>',
    '<filter id="f"><feImage href="https://evil.example/x"/></filter>',
    '<?xml-stylesheet href="https://evil.example/x.css"?>',
    '<metadata><rdf:RDF>SECRET</rdf:RDF></metadata>',
    '<![CDATA[<script>alert(1)</script>]]>',
    'words between shapes',
  ]) {
    assert.equal(inside(text), '', text)
  }
})

test('attributes that run or load something are removed', () => {
  for (const attribute of [
    'onload="alert(1)"',
    'ONCLICK="alert(1)"',
    'href="https://evil.example"',
    'xlink:href="#a"',
    'fill="url(https://evil.example/#a)"',
    'fill="url(#a) url(https://evil.example)"',
    'fill="URL(https://evil.example)"',
    'fill="u\\72l(https://evil.example)"',
    'fill="&#117;rl(https://evil.example)"',
    'fill="image-set(&quot;https://evil.example&quot; 1x)"',
    'fill="image(x)"',
    'fill="var(--x)"',
    'style="background:url(https://evil.example)"',
    'style="fill:url(https://evil.example)"',
    'style="behavior:url(x.htc);-moz-binding:url(x)"',
    'class="x"',
    'filter="url(#f)"',
    'xml:base="https://evil.example"',
    'xmlns="http://www.w3.org/1999/xhtml"',
  ]) {
    assert.equal(inside(`<path ${attribute}/>`), '<path></path>', attribute)
  }
  assert.equal(inside('<text>&lt;script&gt;</text>'), '<text>&lt;script&gt;</text>')
  assert.equal(inside('<text aria-label="a&quot;b"/>'), '<text aria-label="a&quot;b"></text>')
})

test('a mask within a mask is removed, so that masks cannot multiply the work', () => {
  const text =
    '<mask id="a"><path mask="url(#b)" clip-path="url(#c)"/></mask><path mask="url(#a)"/>'
  assert.equal(inside(text), '<mask id="a"><path></path></mask><path mask="url(#a)"></path>')
})

test('a malformed SVG, an entity bomb and one that needs a forbidden element are refused', () => {
  const refuses = (text: string | Buffer) =>
    assert.throws(
      () => cleanSvg(Buffer.from(text)),
      { code: 'image_invalid' },
      String(text).slice(0, 80),
    )
  refuses('<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg>&a;</svg>')
  refuses('<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg/>')
  refuses('<!DOCTYPE svg SYSTEM "x" ><!ENTITY a "b"><svg/>')
  refuses('<svg>&lol9;</svg>')
  refuses('<svg>&</svg>')
  refuses('<svg><style>@import url(https://evil.example)</style></svg>')
  refuses('<svg><use href="#a"/></svg>')
  refuses('<svg><g></svg></g>')
  refuses('<svg')
  refuses('<svg><path d=M0/></svg>')
  refuses('<svg/><svg/>')
  refuses('<svg/>text')
  refuses('<html><svg/></html>')
  refuses('<svg a="1" a="2"/>')
  refuses(Buffer.from([0x3c, 0x73, 0x76, 0x67, 0xff, 0x3e]))
  refuses(`<svg>${'<g>'.repeat(100)}${'</g>'.repeat(100)}</svg>`)
  refuses(`<svg>${'<g/>'.repeat(10_001)}</svg>`)
  const large = Buffer.from(`<svg>${' '.repeat(1_024 * 1_024)}</svg>`)
  assert.throws(() => cleanSvg(large), { code: 'asset_too_large' })
})

test('a megabyte of hostile input is read quickly', () => {
  const before = process.cpuUsage()
  for (const filler of [
    '<',
    '&',
    ' a',
    '"',
    '<g ',
    '<!--',
    'a="',
    '((((',
    'url(#',
    '; :',
    '\n\t ',
  ]) {
    const text = filler.repeat(Math.floor(1_000_000 / filler.length))
    for (const drawing of [
      `<svg>${text}`,
      `<svg ${text}`,
      `<svg><path d="${text}"/></svg>`,
      `<svg><path style="${text}"/></svg>`,
    ]) {
      try {
        cleanSvg(Buffer.from(drawing))
      } catch {
        // Only the time matters.
      }
    }
  }
  // CPU time, since other tests run at the same time.
  const { user } = process.cpuUsage(before)
  assert.ok(user < 5e6, `${user / 1e3} ms`)
})
