package io.carillon.workflow;

import io.carillon.internal.value.Names;

/**
 * The id that a sender gives a signal. A workflow gets at most one signal with an id, however often it is sent.
 *
 * @param id 1 to 200 characters, such as the id of the message that caused the signal
 */
public record Send(String id) {
    /** Creates an id. */
    public Send {
        Names.checkKey("signal id", id);
    }

    /** Returns this id. */
    public static Send id(String id) {
        return new Send(id);
    }
}
