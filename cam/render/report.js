const box = document.getElementById("filter"), said = document.getElementById("found");
const rows = [...document.querySelectorAll("#records li")].map(li => [li, li.textContent.toLowerCase()]);
const topics = [...document.querySelectorAll("#records details")].map(d => [d, d.open]);
let timer = 0;
function show() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const [li, text] of rows) {
    const fits = words.every(word => text.includes(word));
    li.hidden = !fits;
    count += fits;
  }
  for (const [d, open] of topics) {
    d.hidden = words.length > 0 && !d.querySelector("li:not([hidden])");
    d.open = words.length ? !d.hidden && count <= 500 : open;
  }
  said.textContent = words.length ? count + " found" : "";
}
box.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 120); });
document.getElementById("search").hidden = false;
