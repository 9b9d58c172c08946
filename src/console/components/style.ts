/** The whole look: light, dark and on paper. Nothing is said by colour alone. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1c2421, #e4ebe7);
  --quiet: light-dark(#55635d, #9fb0a8);
  --paper: light-dark(#fbfcfb, #121715);
  --line: light-dark(#d5ddd9, #2e3935);
  --link: light-dark(#0b5c46, #7fd1b1);
  --good: light-dark(#0f6b3c, #7bd69d);
  --bad: light-dark(#9b1c1c, #ff9d94);
  --doubt: light-dark(#7a4d00, #f0c060);
  font: 16px/1.45 system-ui, sans-serif;
}
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem; }
header { display: flex; flex-wrap: wrap; gap: .5rem 2rem; align-items: baseline; padding: .75rem 1.5rem; border-bottom: 1px solid var(--line); }
header .name { font-weight: 650; text-decoration: none; color: var(--ink); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0; padding: 0; list-style: none; }
nav a[aria-current] { color: var(--ink); font-weight: 650; }
#link { margin: 0; color: var(--bad); font-weight: 650; }
main { padding: 1.5rem; max-width: 110rem; overflow-wrap: anywhere; }
h1 { font-size: clamp(1.25rem, 1rem + 1.6vw, 2rem); line-height: 1.3; font-weight: 600; max-width: 60rem; margin: 0 0 1.5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
section { margin: 0 0 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; min-width: 30rem; }
caption { text-align: left; font-weight: 650; padding: 0 0 .5rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem 1.25rem .3rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 500; color: var(--quiet); white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td { overflow-wrap: break-word; min-width: 4rem; max-width: 24rem; }
.id, code, pre { font-family: ui-monospace, monospace; font-size: .875em; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
time { white-space: nowrap; }
.none, .ago { color: var(--quiet); }
.ago { margin-left: .5rem; font-size: .875rem; }
.state { white-space: nowrap; }
.state::before { content: "· "; }
.good, .active, .accepted, .complete, .stored { color: var(--good); }
.bad, .gone, .failed { color: var(--bad); }
.doubt, .paused, .never_read, .ignored { color: var(--doubt); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem; margin: 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
form.filters { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: 0 0 1rem; }
form.filters label { flex: 1 1 9rem; max-width: 13rem; }
form.filters input { width: 100%; }
form.filters a { padding: .3rem 0; border: 1px solid transparent; }
label { display: grid; gap: .15rem; color: var(--quiet); font-size: .875rem; }
textarea { width: 100%; max-width: 60rem; font-family: ui-monospace, monospace; }
.fault { color: var(--bad); font-weight: 650; }
input, select, textarea, button { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: .3rem; padding: .3rem .5rem; }
button { cursor: pointer; border-color: var(--link); }
.under { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: .75rem 0; padding: 0; list-style: none; }
form.search { margin: 0 0 0 auto; }
form.search label { display: flex; gap: .5rem; align-items: center; }
form.act { display: inline-block; margin: .25rem .5rem .25rem 0; }
form.asof { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: 1.5rem 0 0; }
form.asof input { width: 16rem; max-width: 100%; }
form.asof p { margin: 0; flex-basis: 100%; }
figure { margin: 0 0 1rem; }
figcaption { margin: 0 0 .5rem; }
svg { max-width: 100%; height: auto; margin: 0 0 1rem; }
svg text { fill: var(--ink); font-size: 13px; dominant-baseline: central; }
svg .name { text-anchor: end; }
svg rect, svg .dot { fill: var(--link); }
svg line { stroke: var(--line); }
object { width: 100%; height: 32rem; border: 1px solid var(--line); }
ol.strip { display: flex; flex-wrap: wrap; gap: .5rem; list-style: none; padding: 0; margin: 0 0 1rem; }
ol.strip li { border: 1px solid var(--line); border-radius: .3rem; padding: .3rem .6rem; }
ol.strip li + li::before { content: "→ "; color: var(--quiet); }
details { margin: .5rem 0; }
@media (max-width: 40rem) {
  main { padding: 1rem; }
  dl { grid-template-columns: 1fr; }
  dd { margin: 0 0 .5rem; }
}
@media print {
  header, .skip, form, object, .under, .ago, details:not([open]) { display: none !important; }
  body { color: #000; background: #fff; }
  .wide { overflow: visible; }
  a { color: inherit; text-decoration: none; }
  time { font-size: 0; }
  time::after { content: attr(datetime); font-size: 1rem; }
}
`;
