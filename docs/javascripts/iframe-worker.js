// Search in pages that are opened as files: browsers allow no workers there, so a hidden frame does their work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      const inside = frame.contentWindow
      // The script takes the frame's window for its worker: what it posts is for the page.
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.ready = new Promise(resolve => {
        const script = inside.document.createElement("script")
        script.onload = () => resolve(inside)
        script.src = url
        inside.document.body.append(script)
      })
    }

    async postMessage(data) {
      const inside = await this.ready
      inside.dispatchEvent(new inside.MessageEvent("message", { data }))
    }
  }
}
