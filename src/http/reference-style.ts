/** The stylesheet of the API reference. Colours meet a contrast of 4.5 to 1 in both schemes. */
export const REFERENCE_STYLE = `
:root { color-scheme: light dark; --paper: #fff; --ink: #1b2430; --quiet: #566173; --line: #dfe4ec;
  --wash: #f5f7fa; --link: #0b5bd3; --accent: #0b5bd3; --need: #a8321a;
  --get: #0a6b3d; --post: #0b5bd3; --put: #8a4b00; --patch: #7a3ea8; --delete: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --paper: #10151c; --ink: #e5eaf1; --quiet: #a2aebf;
  --line: #2a3442; --wash: #18202a; --link: #7db4ff; --accent: #7db4ff; --need: #ff9e85;
  --get: #63d79b; --post: #7db4ff; --put: #f2b56b; --patch: #d3a4f7; --delete: #ff9189; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: .18em; }
a:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem 1rem; z-index: 2; }
.layout { max-width: 84rem; margin: 0 auto; }
header { padding: 1.5rem 1.25rem 0; }
header p { margin: .25rem 0 0; color: var(--quiet); }
h1 { margin: 0; font-size: 1.7rem; letter-spacing: -.02em; line-height: 1.2; }
h2 { margin: 3rem 0 .75rem; font-size: 1.35rem; letter-spacing: -.01em; padding-bottom: .4rem; border-bottom: 1px solid var(--line); }
h3 { margin: 0; font-size: 1.08rem; line-height: 1.35; }
h4 { margin: 1.25rem 0 .4rem; font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--quiet); }
main { padding: 0 1.25rem 5rem; min-width: 0; }
main p { max-width: 44rem; margin: .5rem 0; }
nav { padding: 1rem 1.25rem; font-size: .9rem; }
.wide { display: none; }
nav summary { cursor: pointer; font-weight: 600; padding: .6rem .9rem; background: var(--wash); border: 1px solid var(--line); border-radius: 8px; }
nav ul { list-style: none; margin: .25rem 0 1rem; padding: 0; }
nav li a { display: flex; gap: .55rem; align-items: baseline; padding: .22rem .5rem; border-radius: 6px; color: var(--ink); text-decoration: none; }
nav li a:hover { background: var(--wash); text-decoration: underline; }
nav .group { display: block; margin-top: 1rem; padding: 0 .5rem; font-size: .75rem; font-weight: 700; text-transform: uppercase; letter-spacing: .06em; color: var(--quiet); text-decoration: none; }
nav .method { font-size: .68rem; flex: 0 0 3.1rem; }
.method { font: 700 .8rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; text-transform: uppercase; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); }
.patch { color: var(--patch); } .delete { color: var(--delete); }
article { margin: 1.1rem 0; padding: 1.1rem 1.2rem 1.3rem; border: 1px solid var(--line); border-radius: 12px; }
article:target { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.endpoint { margin: .45rem 0 .2rem; padding: .5rem .75rem; background: var(--wash); border-radius: 8px; display: flex; flex-wrap: wrap; gap: .15rem .75rem; align-items: baseline; max-width: none; }
.endpoint code { font-weight: 600; }
.who { color: var(--quiet); font-size: .92rem; }
.tree, .tree ul { list-style: none; margin: 0; padding: 0; }
.tree ul { margin: .1rem 0 .1rem .2rem; padding-left: .9rem; border-left: 2px solid var(--line); }
.tree li { padding: .22rem 0; }
.tree .name { font-weight: 600; }
.type, .limits { color: var(--quiet); font-size: .88rem; }
.need { color: var(--need); font-size: .78rem; font-weight: 600; }
.note { font-size: .92rem; margin: .05rem 0 .1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th { text-align: left; font-size: .78rem; color: var(--quiet); font-weight: 600; }
th, td { padding: .38rem .9rem .38rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td code { white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
pre { background: var(--wash); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; overflow-x: auto; max-width: 44rem; }
@media (min-width: 62rem) {
  .layout { display: grid; grid-template-columns: 19rem minmax(0, 1fr); grid-template-rows: auto 1fr; column-gap: 2.5rem; }
  header { grid-column: 2; } main { grid-column: 2; }
  nav { grid-column: 1; grid-row: 1 / span 2; position: sticky; top: 0; height: 100vh; overflow-y: auto; border-right: 1px solid var(--line); }
  .narrow { display: none; } .wide { display: block; }
}
@media print { nav { display: none; } article { break-inside: avoid; } }
`
