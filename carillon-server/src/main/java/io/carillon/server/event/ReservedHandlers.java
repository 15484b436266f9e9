package io.carillon.server.event;

import io.carillon.server.http.Problem;
import io.carillon.webhook.Webhooks;

/** The names of handlers that execute runs of Carillon itself. Requests cannot name them as a target. */
public final class ReservedHandlers {
    /** Names that start with this and a dot. */
    private static final String PREFIX = "carillon";

    private ReservedHandlers() {}

    /** Rejects a reserved name in the field {@code /target/handler}. */
    public static void refuse(String name) {
        if (name.equals(Webhooks.TYPE.name()))
            throw refusal("This handler name is reserved. To call a webhook, set the field endpoint of the target.");
        if (name.startsWith(PREFIX + '.'))
            throw refusal(
                    ("Handler names that start with \"%s.\" are reserved. To publish an event, set the field event of"
                                    + " the target; otherwise choose another name.")
                            .formatted(PREFIX));
    }

    private static Problem refusal(String detail) {
        return Problem.invalid("/target/handler", detail);
    }
}
