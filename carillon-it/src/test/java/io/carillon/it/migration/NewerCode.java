package io.carillon.it.migration;

import io.carillon.internal.postgres.migration.Migrator;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.sql.DataSource;

/**
 * The migrator as a later version ships it: the same classes, loaded again together with additional migration files.
 */
public final class NewerCode {
    private static final String MIGRATIONS_PATH = "io/carillon/internal/postgres/migrations/";
    private final Path root;
    private final Path directory;

    /** Creates a version that has the files of the current one. */
    public NewerCode(Path directory) throws IOException {
        this.root = directory;
        this.directory = Files.createDirectories(directory.resolve(MIGRATIONS_PATH));
        try (InputStream index =
                Migrator.class.getResourceAsStream("/io/carillon/internal/postgres/migrations/index.txt")) {
            Files.write(this.directory.resolve("index.txt"), index.readAllBytes());
        }
    }

    public NewerCode withFile(String file, String sql) throws IOException {
        Path index = directory.resolve("index.txt");
        Files.writeString(directory.resolve(file), sql);
        Files.writeString(index, Files.readString(index) + file + "\n");
        return this;
    }

    public void migrate(DataSource dataSource) {
        Object migrator = migrator(dataSource);
        invoke(migrator, "run", mode(migrator));
    }

    String print(DataSource dataSource, int from) {
        return (String) invoke(migrator(dataSource), "print", from);
    }

    private Object migrator(DataSource dataSource) {
        try {
            URL core = Migrator.class.getProtectionDomain().getCodeSource().getLocation();
            return new IsolatedClassLoader(root.toUri().toURL(), core)
                    .loadClass(Migrator.class.getName())
                    .getConstructor(DataSource.class)
                    .newInstance(dataSource);
        } catch (InvocationTargetException e) {
            throw thrown(e);
        } catch (ReflectiveOperationException | IOException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    private static Object mode(Object migrator) {
        try {
            Class<?> modes = migrator.getClass().getClassLoader().loadClass("io.carillon.SchemaMode");
            return modes.getField("AUTO").get(null);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    private static Object invoke(Object migrator, String method, Object argument) {
        try {
            Class<?> type = argument instanceof Integer ? int.class : argument.getClass();
            return migrator.getClass().getMethod(method, type).invoke(migrator, argument);
        } catch (InvocationTargetException e) {
            throw thrown(e);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    private static RuntimeException thrown(InvocationTargetException e) {
        return e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
    }

    public static String text(String... lines) {
        return String.join("\n", lines) + "\n";
    }

    /** A class loader that loads the classes and files of one package itself; everything else is shared. */
    private static final class IsolatedClassLoader extends URLClassLoader {
        IsolatedClassLoader(URL... urls) {
            super(urls, NewerCode.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                if (loaded != null) return loaded;
                return name.startsWith("io.carillon.internal.postgres.")
                        ? findClass(name)
                        : super.loadClass(name, resolve);
            }
        }

        @Override
        public URL getResource(String name) {
            URL own = findResource(name);
            return own != null ? own : super.getResource(name);
        }
    }
}
