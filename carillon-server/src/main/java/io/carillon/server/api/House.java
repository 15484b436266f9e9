package io.carillon.server.api;

import io.carillon.Carillon;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.http.Cursors;
import io.carillon.server.store.AnswerRepository;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.BulkRepository;
import io.carillon.server.store.HouseRepository;
import io.carillon.server.store.KeyRepository;
import io.carillon.server.store.Transactions;

/** What routes are made of: the front door, the server's own tables, the marks of where lists go on, and webhooks. */
public record House(
        Carillon carillon, Transactions transactions, Tables tables, Cursors cursors, ServerWebhooks webhooks) {
    /** The server's own tables. */
    public record Tables(
            KeyRepository keys,
            AuditRepository audit,
            AnswerRepository answers,
            HouseRepository projects,
            BulkRepository bulk) {}
}
