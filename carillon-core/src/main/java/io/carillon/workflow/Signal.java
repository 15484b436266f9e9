package io.carillon.workflow;

import io.carillon.internal.value.Names;

/**
 * The name of a signal to a workflow and the type of its value. A signal is sent with {@link WorkflowHandle#signal} and
 * received with {@link Flow#await}.
 *
 * @param name lower-case letters, digits, dot, underscore and hyphen
 * @param valueType the class of the values
 */
public record Signal<T>(String name, Class<T> valueType) {
    /** Creates a signal. */
    public Signal {
        Names.check("signal", name);
    }

    /** Returns a signal with this name. */
    public static <T> Signal<T> of(String name, Class<T> valueType) {
        return new Signal<>(name, valueType);
    }
}
