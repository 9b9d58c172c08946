/** Lays out a matrix as one block per row, for screens too narrow for its columns. */
const layOutAsBlocks = (matrix: string): string => `
  ${matrix} thead, ${matrix} td:empty { display: none; }
  ${matrix}, ${matrix} tbody, ${matrix} caption { display: block; }
  ${matrix} tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: .1rem .15rem; padding: var(--s1) var(--s4) var(--s2); border-top: 1px solid var(--line); }
  ${matrix} tr::before { content: ""; flex: 0 0 100%; order: 1; }
  ${matrix} tbody th:first-child { flex: 1 1 0; width: auto; max-width: none; padding: 0; border: 0; white-space: normal; }
  ${matrix} td.number { order: 2; min-width: 3.9rem; padding: .05rem .25rem; border: 0; text-align: left; }
  ${matrix} td.number:last-child { order: 0; flex: none; text-align: right; font-weight: 600; }
  ${matrix} td:not(:last-child)::before { content: attr(data-label); display: block; color: var(--quiet); font-size: var(--small); font-weight: 400; }
  ${matrix} .sum { background: var(--sunk); }
  ${matrix} tbody + tbody .sum > * { border-top: 0; }
`;

/** The stylesheet for all screens, themes and paper. Colour only repeats a state that a sign and a word express. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --s1: .25rem; --s2: .5rem; --s3: .75rem; --s4: 1rem; --s5: 1.5rem; --s6: 2.5rem;
  --small: .75rem; --fine: .8125rem; --text: .875rem; --large: 1.125rem; --head: 1.375rem; --figure: 1.625rem;
  --radius: .5rem; --round: 99rem;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace;
  --ink: light-dark(#16211d, #e6ece9);
  --quiet: light-dark(#52615b, #9fafa8);
  --page: light-dark(#f4f6f5, #0e1311);
  --card: light-dark(#ffffff, #161d1a);
  --sunk: light-dark(#f8faf9, #1b2320);
  --line: light-dark(#dfe5e2, #29332f);
  --strong: light-dark(#9aa8a1, #52615b);
  --accent: light-dark(#1d4f91, #8db8ee);
  --tint: light-dark(#2f66b0, #6ea3e6);
  --good: light-dark(#0d5f35, #77d39a);
  --good-soft: light-dark(#e3f4ea, #14301f);
  --doubt: light-dark(#744700, #efc069);
  --doubt-soft: light-dark(#fdf1da, #33270f);
  --bad: light-dark(#9c1818, #ff9f97);
  --bad-soft: light-dark(#fdeaea, #3b1817);
  --none-soft: light-dark(#edf1ef, #222b27);
}
:root.light { color-scheme: light; }
:root.dark { color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--page); font: var(--text)/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1, h2, h3, p, ul, ol, dl, dd, figure { margin: 0; padding: 0; }
ul, ol { list-style: none; }
#invitation ol { list-style: decimal inside; }
h1 { font-size: var(--head); line-height: 1.3; font-weight: 650; letter-spacing: -.01em; text-wrap: balance; }
h2 { font-size: var(--text); font-weight: 650; }
h3 { font-size: var(--fine); font-weight: 600; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
p a, dd a, caption > a, .hits a, .timeline a, .versions a, .notice a, .more a { text-decoration: underline; text-decoration-color: color-mix(in srgb, var(--accent) 35%, transparent); text-underline-offset: .2em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: var(--s2); top: var(--s2); z-index: 1; padding: var(--s2); background: var(--card); }
small, .quiet, .none, .ago { color: var(--quiet); font-weight: 400; font-size: var(--fine); }
.unseen { position: absolute; left: -99rem; }
.id, code, pre, kbd, textarea { font-family: var(--mono); font-size: var(--fine); }
kbd { padding: 0 .35rem; border: 1px solid var(--strong); border-bottom-width: 2px; border-radius: .3rem; background: var(--sunk); }
.copy, .ids { padding: 0 .4rem; color: var(--quiet); background: none; border-color: var(--line); font-size: var(--small); font-weight: 400; line-height: 1.3; }
.copy::before { content: "Copy"; }
.copy.copied::before { content: "✓ Copied"; color: var(--good); }
@media (scripting: none) { .copy { display: none; } }
[popover].card { width: min(40rem, 94vw); color: inherit; box-shadow: 0 .5rem 2rem rgb(0 0 0 / 25%); white-space: normal; text-align: left; }
pre { margin: var(--s2) 0 0; padding: var(--s3); white-space: pre-wrap; overflow-wrap: anywhere; background: var(--sunk); border: 1px solid var(--line); border-radius: var(--radius); }
time, .type { white-space: nowrap; }
.term { color: inherit; text-decoration: underline dotted; text-underline-offset: .2em; }
del { color: var(--quiet); }
ins { text-decoration: none; font-weight: 600; }

/* Navigation */
header.top { display: flex; align-items: center; gap: var(--s4); min-height: 3rem; padding: 0 var(--s5); background: var(--card); border-bottom: 1px solid var(--line); }
.brand { font-weight: 700; color: var(--ink); letter-spacing: -.01em; white-space: nowrap; }
.brand + .state { margin-left: calc(-1 * var(--s2)); }
.brand::before { content: ""; display: inline-block; width: .8rem; height: .8rem; margin-right: .45rem; border-radius: 50%; border: .2rem solid var(--tint); vertical-align: -.1rem; }
.top ul { display: flex; gap: var(--s1); }
.top li a, .tabs a { display: block; padding: .3rem .6rem; border-radius: var(--radius); color: var(--quiet); white-space: nowrap; }
.top li a:hover, .tabs a:hover { color: var(--ink); background: var(--none-soft); text-decoration: none; }
.top li [aria-current], .tabs [aria-current] { color: var(--ink); font-weight: 600; }
.top li [aria-current] { background: var(--none-soft); }
.search { margin-left: auto; }
.search span { position: absolute; left: -99rem; }
.search input { width: 11rem; }
.menu { display: none; }
.under { display: flex; align-items: center; gap: var(--s1) var(--s5); flex-wrap: wrap; padding: 0 var(--s5); background: var(--card); border-bottom: 1px solid var(--line); min-height: 2.4rem; }
.tabs { display: flex; gap: var(--s1); overflow-x: auto; margin-bottom: -1px; }
.tabs a { border-radius: 0; padding: .5rem .6rem; border-bottom: 2px solid transparent; }
.tabs [aria-current] { border-color: var(--accent); }
form.asof { display: flex; align-items: center; gap: var(--s2); margin-left: auto; padding: .2rem 0; }
form.asof label { display: flex; align-items: center; gap: var(--s2); color: var(--quiet); font-size: var(--fine); }
form.asof input { width: auto; min-width: 10rem; max-width: 16rem; field-sizing: content; }
form.asof p { padding: .1rem .6rem; color: var(--doubt); background: var(--doubt-soft); border-radius: var(--radius); }
main { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s3) var(--s4); max-width: 96rem; margin: 0 auto; padding: var(--s3) var(--s5) var(--s5); overflow-wrap: anywhere; }
.head { display: flex; flex-wrap: wrap; align-items: center; gap: var(--s1) var(--s2); }
.head h1 { margin-right: var(--s2); }
section:empty, main > div:empty { display: none; }
footer { display: flex; gap: var(--s3); justify-content: flex-end; padding: 0 var(--s5) var(--s4); color: var(--quiet); font-size: var(--small); }
footer form, .choices { display: flex; border: 1px solid var(--line); border-radius: var(--radius); overflow: hidden; width: fit-content; background: var(--card); }
footer button, .choices a { border: 0; border-radius: 0; background: none; padding: .2rem .7rem; color: var(--quiet); font-weight: 400; text-decoration: none; }
footer button { font-size: var(--small); }
footer [aria-pressed=true], .choices [aria-current] { color: var(--ink); background: var(--none-soft); font-weight: 550; }
.choices a:hover { background: var(--none-soft); }
footer :focus-visible, .choices :focus-visible { outline-offset: -2px; }
#link { padding: var(--s1) var(--s5); color: var(--bad); background: var(--bad-soft); font-weight: 600; }
body:has(#link:not([hidden])) main { filter: grayscale(1); }

/* Fields and buttons */
input, select, textarea, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--strong); border-radius: var(--radius); padding: .25rem .55rem; }
input::placeholder { color: var(--quiet); opacity: 1; }
textarea { width: 100%; font: var(--fine)/1.5 var(--mono); }
button { cursor: pointer; font-weight: 550; }
button:hover { background: var(--none-soft); }
button.first { color: var(--card); background: var(--accent); border-color: var(--accent); }
form.act { display: inline-block; }
.filters { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s2); align-items: center; }
.filters[popover] { display: contents; color: inherit; }
.field { display: flex; align-items: center; gap: var(--s1); padding-left: .5rem; color: var(--quiet); font-size: var(--small); background: var(--card); border: 1px solid var(--line); border-radius: var(--radius); white-space: nowrap; }
.field input, .field select { height: 1.75rem; padding: 0 .3rem; font-size: var(--fine); color: var(--ink); border: 0; background: none; }
.field select { field-sizing: content; max-width: 8rem; text-overflow: ellipsis; }
.field input { width: 5rem; }
.field input:not([type]) { width: auto; min-width: 4rem; max-width: 12rem; field-sizing: content; }
@supports not (field-sizing: content) { .field input:not([type]) { width: 6rem; } }
.field [type=date] { width: 7.4rem; }
.field [type=checkbox] { width: 1rem; margin-right: .4rem; }
details.field { display: block; position: relative; padding-right: .5rem; line-height: 1.75rem; }
.field summary b { color: var(--ink); font-size: var(--fine); font-weight: 400; }
.field > div { position: absolute; z-index: 1; left: -1px; top: 100%; padding: var(--s1) var(--s3) var(--s1) var(--s2); background: var(--card); border: 1px solid var(--strong); border-radius: var(--radius); }
.field > div > label { display: flex; align-items: center; gap: .2rem; color: var(--ink); }
.field :focus-visible { outline-offset: -2px; }
.opens-filters { display: none; }
.order { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s3); align-items: end; }
.order label { display: grid; gap: .1rem; color: var(--quiet); font-size: var(--small); flex: 0 1 12rem; }
.order input { font-size: var(--fine); color: var(--ink); }
.links { display: flex; flex-wrap: wrap; align-items: center; gap: var(--s1) var(--s4); }
.links:empty { display: none; }
.wide + .links, .stack + .links, .wide + .lead, h2 + .wide { margin-top: var(--s2); }
summary { cursor: pointer; color: var(--quiet); }

.ask label { display: block; color: var(--quiet); font-size: var(--small); }
.actions { display: grid; gap: var(--s2); }
.actions > li { display: grid; grid-template-columns: minmax(0, 19rem) minmax(0, 1fr); align-items: center; gap: var(--s1) var(--s4); }
.actions button { width: 100%; text-align: left; }
.actions form { display: grid; }

/* Tiles */
.tiles { display: grid; grid-template-columns: minmax(min-content, 2.5fr) repeat(5, minmax(min-content, 1fr)); gap: var(--s3); }
.tile, .card { padding: var(--s2) var(--s4) var(--s3); background: var(--card); border: 1px solid var(--line); border-radius: var(--radius); }
.tile { padding: .4rem var(--s3); }
.tile dt { color: var(--quiet); font-size: var(--small); }
dt + dd > a:only-child { text-decoration: none; }
.tile dd { font-size: .9375rem; font-weight: 600; font-variant-numeric: tabular-nums; line-height: 1.4; overflow-wrap: normal; }
.tile .good { color: var(--good); }
.tile .bad { color: var(--bad); }
.tile .doubt { color: var(--doubt); }
.tile dd + dd { font-size: var(--small); font-weight: 400; color: var(--quiet); }
.hero { font-size: var(--fine); font-weight: 400; color: var(--quiet); letter-spacing: 0; line-height: 1.25; text-wrap: wrap; }
.hero b { font-size: var(--figure); font-weight: 650; color: var(--ink); letter-spacing: -.02em; font-variant-numeric: tabular-nums; white-space: nowrap; }
.hero span + .unseen + span b { font-size: var(--large); }
.tile b i { font-style: normal; font-weight: 500; color: var(--quiet); }
.tile dd i { font-size: var(--small); }
.tile .sum, .hero > .of { display: block; }
.tile .sum > span, .tile dd .sum { white-space: nowrap; }
.tile dd .sum > span { font-size: var(--small); font-weight: 400; color: var(--quiet); }
.hero > .of { padding-top: var(--s1); }

/* Badge */
.state { display: inline-block; padding: 0 .5rem; border-radius: var(--round); font-size: var(--small); line-height: 1.3rem; font-weight: 550; color: var(--quiet); background: var(--none-soft); }
.state::before { content: "○ "; }
.state.good { color: var(--good); background: var(--good-soft); }
.state.good::before { content: "● "; }
.state.doubt { color: var(--doubt); background: var(--doubt-soft); }
.state.doubt::before { content: "▲ "; }
.state.bad { color: var(--bad); background: var(--bad-soft); }
.state.bad::before { content: "✕ "; }

/* Table */
.wide { container-type: inline-size; overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: var(--radius); }
table { border-collapse: collapse; width: 100%; }
caption, .wide > h2 { text-align: left; font-weight: 650; padding: var(--s2) var(--s4); }
.files { float: right; display: flex; gap: var(--s3); font-weight: 400; font-size: var(--fine); }
caption .lead { margin-left: var(--s2); font-weight: 400; font-size: var(--fine); }
caption .years { display: inline-flex; flex-wrap: wrap; gap: 0 var(--s3); }
caption .state { line-height: 1.2rem; }
th, td { text-align: left; vertical-align: baseline; padding: .32rem var(--s3); border-top: 1px solid var(--line); }
th:first-child, td:first-child { padding-left: var(--s4); }
th { font-weight: 500; font-size: var(--small); color: var(--quiet); white-space: nowrap; background: var(--sunk); }
td { max-width: 26rem; overflow-wrap: break-word; vertical-align: top; }
td .state { border-radius: .65rem; overflow-wrap: normal; }
td > a { display: inline-block; max-width: 20rem; vertical-align: top; }
tbody tr:hover { background: var(--sunk); }
tr.link:has(a, button) { cursor: pointer; }
.values time { white-space: normal; }
th .sort { color: inherit; }
th .sort::after { content: " ↕"; color: var(--strong); }
[aria-sort] .sort { color: var(--ink); font-weight: 650; }
[aria-sort=ascending] .sort::after { content: " ▲"; }
[aria-sort=descending] .sort::after { content: " ▼"; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td i { font-style: normal; color: var(--quiet); }
@media (min-width: 40.01rem) { .cards:has(td i:not(:empty)) i { display: inline-block; min-width: 4.4em; text-align: left; } .cards:has(td i:not(:empty)) .number > .none { padding-right: 4.7em; } }
.empty { padding: var(--s4); color: var(--quiet); }
.more { padding: var(--s2) var(--s4); border-top: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); }
.matrix th, .matrix td { padding: .12rem .4rem; font-size: var(--fine); }
.matrix th:first-child { padding-left: var(--s4); }
.matrix th:last-child, .matrix td:last-child { padding-right: var(--s4); }
.matrix tbody + tbody .sum > * { border-top: 1px solid var(--strong); }
.matrix tbody th { background: none; width: 100%; max-width: 9rem; overflow: hidden; text-overflow: ellipsis; }
.matrix td a { color: var(--ink); }
.matrix .sum > * { font-weight: 600; color: var(--ink); background: var(--sunk); }
${layOutAsBlocks('.matrix.blocks')}
@container (max-width: 44rem) {${layOutAsBlocks('.matrix')}}
.heat1 { background: color-mix(in srgb, var(--tint) 7%, transparent); }
.heat2 { background: color-mix(in srgb, var(--tint) 14%, transparent); }
.heat3 { background: color-mix(in srgb, var(--tint) 22%, transparent); }
.heat4 { background: color-mix(in srgb, var(--tint) 30%, transparent); }

/* Layout */
.columns { display: grid; grid-template-columns: minmax(0, 1.45fr) minmax(0, 1fr); gap: var(--s4); align-items: start; }
.two { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: var(--s4); align-items: start; }
.stack { display: grid; gap: var(--s4); grid-template-columns: minmax(0, 1fr); }
.card > * + * { margin-top: var(--s2); }
.card > ul:not(.links) { display: grid; gap: var(--s1); }
.lead { color: var(--quiet); }
.lead > .state { margin-right: var(--s1); }

/* Notice */
.notices { display: grid; gap: var(--s2); }
.notice { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s3); align-items: baseline; padding: .4rem var(--s4); background: var(--card); border: 1px solid var(--line); border-left: 3px solid var(--strong); border-radius: var(--radius); }
.notice.bad { border-left-color: var(--bad); }
.notice.doubt { border-left-color: var(--doubt); }
.notice details { flex-basis: 100%; }
.fault { color: var(--bad); font-weight: 600; }

/* Feed, facts and timeline */
.feed > li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 var(--s3); padding: .3rem var(--s4); border-top: 1px solid var(--line); }
.feed time { color: var(--quiet); font-size: var(--small); line-height: 1.7; }
.feed > li > span::first-letter { text-transform: uppercase; }
.feed small { display: flex; flex-wrap: wrap; gap: 0 var(--s3); }
.feed small, .feed small a { color: var(--quiet); }
.feed small:empty { display: none; }
.feed .feed, .feed small, .feed details { grid-column: 1 / -1; }
.feed .feed > li:first-child { border-top: 0; }
.feed summary { color: var(--ink); }
.facts { display: grid; grid-template-columns: minmax(6.5rem, max-content) minmax(0, 1fr); gap: .25rem var(--s4); }
.two .facts { grid-template-columns: max-content minmax(0, 1fr); }
.facts dt { color: var(--quiet); }
.facts dd { overflow-wrap: anywhere; }
.timeline > li { position: relative; padding: 0 0 var(--s4) 1.75rem; }
.timeline > li::before { content: ""; position: absolute; left: .3rem; top: .35rem; width: .6rem; height: .6rem; border-radius: 50%; background: var(--strong); }
.timeline > li::after { content: ""; position: absolute; left: .57rem; top: 1.2rem; bottom: -.15rem; width: 1px; background: var(--line); }
.timeline > li:last-child { padding-bottom: 0; }
.timeline > li:last-child::after { display: none; }
.timeline > .good::before { background: var(--good); }
.timeline > .bad::before { background: var(--bad); }
.timeline > .doubt::before { background: var(--doubt); }
.timeline p, .timeline ul { color: var(--quiet); }

@media (min-width: 75.01rem) {
  main:has(> .columns > #available) { grid-template: auto auto 1fr / minmax(0, 1.45fr) minmax(0, 1fr); align-items: start; }
  main:has(> .columns > #available) > * { grid-column: 1 / -1; }
  main > .columns:has(> #available) { display: contents; }
  .columns > #available, main:has(> .columns > #available) > #charts { grid-column: 1; }
  .columns:has(> #available) > .stack { grid-column: 2; grid-row: span 2; }
}
#below, #registry { order: 1; }
main:has(#registry) > .filters { order: 1; }
main:has(#registry) #sums { order: 2; }
#below:not(:has(table)) { display: none; }
.tiles > #tiles { display: contents; }

.message { max-width: 44rem; }
.search-again { display: flex; flex-wrap: wrap; align-items: end; gap: var(--s2); }
.search-again label { display: grid; flex: 1 1 14rem; color: var(--quiet); font-size: var(--fine); }
.message .timeline > li { padding-bottom: var(--s2); }

/* Chart */
svg { display: block; width: 100%; height: auto; max-height: 6rem; }
figure.card { padding-bottom: var(--s1); }
figure.card > * + * { margin-top: var(--s1); }
figure h2 { font-size: var(--fine); }
figure summary { font-size: var(--small); text-align: right; }
svg text { fill: var(--quiet); font-size: 11px; }
svg .end { text-anchor: end; }
svg .middle { text-anchor: middle; }
svg rect, svg circle { fill: var(--tint); }
svg polyline { fill: none; stroke: var(--tint); stroke-width: 2; }
svg polygon { fill: color-mix(in srgb, var(--tint) 10%, transparent); }
svg line { stroke: var(--line); }
#preview:empty { display: none; }
object { display: block; width: 100%; height: 30rem; border: 1px solid var(--line); border-radius: var(--radius); }
.only-paper { display: none; }

@media (max-width: 75rem) { .columns, .two { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 60rem) {
  .top nav > ul, .top > ul { display: none; }
  .search { flex: 1; }
  .search input { width: 100%; }
  .menu { display: block; }
  .menu[open] > ul { position: absolute; left: 0; right: 0; top: 3rem; z-index: 1; display: grid; padding: var(--s3); background: var(--card); border-bottom: 1px solid var(--strong); }
  header.top, .under, main, footer { padding-left: var(--s4); padding-right: var(--s4); }
  .tiles { grid-template-columns: repeat(2, minmax(min-content, 1fr)); gap: var(--s2); }
  .tiles > :first-child, #tiles > :last-child { grid-column: 1 / -1; }
  form.asof { margin: 0; flex-wrap: wrap; }
}
@media (max-width: 40rem) {
  .facts { grid-template-columns: 7rem minmax(0, 1fr); gap: .2rem var(--s3); }
  .cards thead { display: none; }
  .cards caption { display: flow-root; }
  .cards, .cards tbody, .cards tr, .cards td { display: block; }
  .cards tr { display: flex; flex-wrap: wrap; align-items: baseline; column-gap: .7rem; padding: .4rem var(--s4); border-top: 1px solid var(--line); }
  .cards tr::before { content: ""; flex: 0 0 100%; order: 1; }
  .cards td { order: 2; padding: 0; border: 0; text-align: left; white-space: normal; max-width: none; overflow-wrap: anywhere; color: var(--quiet); font-size: var(--small); }
  .cards td:first-child { order: 0; flex: 1 1 0; min-width: 50%; color: var(--ink); font-size: var(--text); font-weight: 600; }
  .cards td.amount { order: 0; flex: none; margin-left: auto; color: var(--ink); font-size: var(--text); font-weight: 600; }
  .cards td.amount::after { content: " t"; }
  .cards td > a { max-width: 100%; }
  .cards td:first-child > a:first-child { flex: 0 1 auto; display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .cards td.number:not(:first-child, .amount)::before { content: attr(data-label) " "; }
  caption .lead { display: block; margin: 0; }
  .cards .brief { padding-bottom: 0; margin-bottom: .4rem; max-height: calc(.4rem + 1px + 1.35rem + 1.3rem); overflow: hidden; }
  .cards .brief td { order: 4; max-width: 100%; line-height: 1.3rem; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
  .cards .brief td:is(:first-child, .amount, :has(.ids)) { order: 0; line-height: 1.35rem; }
  .cards .brief td:has(.ids) { margin-left: auto; }
  .cards .brief:not(:has(.amount)) td:nth-child(2):has(time) { order: 0; margin-left: auto; }
  .cards .brief td:first-child:has(> .state) { display: flex; align-items: center; gap: var(--s1); }
  .cards .brief td:first-child > .state { flex: none; }
  .cards .brief .detail { display: none; }
  .cards .brief td:not(:first-child):has(.state, .not-fresh) { order: 2; }
  .cards .brief .important { order: 3; }
  .cards .brief td:not(:first-child):has(.state) ~ .important { flex: 1 1 0; min-width: 60%; }
  .cards td:has(> .none:not(.state):only-child), .cards td:empty { display: none; }
  .cards time, .facts time { white-space: normal; }
  .actions > li { grid-template-columns: minmax(0, 1fr); }
  .opens-filters { display: block; margin-left: auto; }
  .filters[popover] { position: fixed; inset: auto 0 0; width: auto; max-height: 90vh; padding: var(--s4); flex-direction: column; align-items: stretch; background: var(--card); border: 1px solid var(--strong); border-radius: var(--radius) var(--radius) 0 0; overflow: auto; }
  .filters[popover]:not(:popover-open) { display: none; }
  .field { justify-content: space-between; }
  .field input, .field select { height: 2.2rem; width: 60%; max-width: none; }
  .brand { font-size: 0; }
}
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; scroll-behavior: auto !important; } }
@media print {
  :root { color-scheme: light; }
  header, footer, .under, .skip, form, object, .links, .ago, .no-paper, details:not([open]) { display: none !important; }
  .only-paper { display: grid; }
  body { background: none; color: #000; font-size: 10pt; }
  main { padding: 0; gap: var(--s3); }
  .columns, .two { grid-template-columns: minmax(0, 1fr); }
  .card, .wide { border: 0; padding: 0; overflow: visible; break-inside: avoid; }
  a { color: inherit; text-decoration: none !important; }
  .state { background: none !important; padding: 0; color: #000 !important; }
  time { font-size: 0; }
  time::after { content: attr(datetime); font-size: 10pt; }
}
`;
