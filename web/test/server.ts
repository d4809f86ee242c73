// Test server for the live page and the list of runs.
//
// It imitates the part of `pgdyno serve` that these pages use, on a free loopback port.
import { createServer, type Server as Http, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Doc } from "../src/page";
import { grownPoint } from "./invented";
import { shell } from "./shell";

export class Server {
    /** Tokens of the requests to stop the run. */
    readonly stops: string[] = [];
    runs: unknown = null;
    /** Response to the first request of the list. */
    first: unknown = null;
    private readonly listeners = new Set<ServerResponse>();

    private constructor(
        private readonly http: Http,
        private doc: Doc,
    ) {}

    static async start(doc: Doc): Promise<Server> {
        // The server has a copy, which the live page cannot change.
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

    /** Adds points without sending an event. */
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
