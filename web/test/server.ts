// What does the program serve to a live page and to the list of runs?
//
// As much of it as these pages ask for, on a free port of this machine.
import { createServer, type Server as Http, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Doc } from "../src/page";
import { grownPoint } from "./invented";
import { shell } from "./shell";

export class Server {
    /** The tokens of those who asked to stop the run. */
    readonly stops: string[] = [];
    runs: unknown = null;
    /** What the list is when it is asked for the first time. */
    first: unknown = null;
    private readonly listeners = new Set<ServerResponse>();

    private constructor(
        private readonly http: Http,
        private doc: Doc,
    ) {}

    static async start(doc: Doc): Promise<Server> {
        // The page that grows does not change what the server has.
        const server = new Server(createServer(), structuredClone(doc));
        server.http.on("request", (request, response) => server.answer(request.method ?? "", request.url ?? "", String(request.headers["x-pgdyno-form"] ?? ""), response));
        await new Promise<void>((done) => server.http.listen(0, "127.0.0.1", done));
        return server;
    }

    address(path: string): string {
        return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}${path}`;
    }

    say(event: string, data: unknown): void {
        for (const it of this.listeners) it.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    }

    /** Points that nobody is told of. */
    grow(points: number): void {
        const to = this.doc.data[0];
        for (let i = 0; to && i < points; i++) {
            const it = grownPoint(this.doc, 0, i, to.times_s.length);
            to.times_s.push(...it.times_s);
            to.charts.forEach((chart, c) => chart.forEach((column, t) => column.push(...(it.charts[c]?.[t] ?? []))));
        }
    }

    hangUp(): void {
        for (const it of this.listeners) it.destroy();
        this.listeners.clear();
    }

    async close(): Promise<void> {
        this.hangUp();
        this.http.closeAllConnections();
        await new Promise((done) => this.http.close(done));
    }

    private answer(method: string, path: string, token: string, response: ServerResponse): void {
        const type = (it: string) => response.setHeader("content-type", it);
        if (method === "POST" && path === "/runs/invented/stop") {
            this.stops.push(token);
            response.statusCode = 204;
            response.end();
        } else if (path === "/runs/invented/events") {
            type("text/event-stream");
            response.write("retry: 50\n\n");
            this.listeners.add(response);
            response.on("close", () => this.listeners.delete(response));
        } else if (path === "/runs/invented/document") {
            type("application/json");
            response.end(JSON.stringify(this.doc));
        } else if (path === "/runs.json") {
            type("application/json");
            response.end(JSON.stringify(this.first ?? this.runs));
            this.first = null;
        } else {
            type("text/html; charset=utf-8");
            const attributes = path === "/runs/invented" ? ' data-document="/runs/invented/document" data-token="let-me" data-home="/" data-file="/runs/invented/report.html"' : ' data-runs="/runs.json"';
            response.end(shell(attributes, ""));
        }
    }
}
